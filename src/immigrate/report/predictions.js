// Pictures of predictions: curves, counts, and what pulls a sample to its class.

// Axes of shares from 0 to 1.
function unitFrame(svg, x, y, names) {
  for (const t of [0, 0.25, 0.5, 0.75, 1]) {
    svg.append(draw("path", { class: "grid", d: `M${x(0)},${y(t)}H${x(1)}M${x(t)},${y(0)}V${y(1)}` }));
    svg.append(draw("text", { class: "soft-text", x: x(0) - 6, y: y(t) + 4, "text-anchor": "end" }, t));
    svg.append(draw("text", { class: "soft-text", x: x(t), y: y(0) + 16, "text-anchor": "middle" }, t));
  }
  svg.append(
    draw("path", { class: "axis", d: `M${x(0)},${y(0)}L${x(1)},${y(1)}`, "stroke-dasharray": "3 4" }),
  );
  svg.append(
    draw("text", { class: "soft-text", x: x(0.5), y: y(0) + 34, "text-anchor": "middle" }, names[0]),
  );
  svg.append(
    draw(
      "text",
      {
        class: "soft-text",
        x: 12,
        y: y(0.5),
        "text-anchor": "middle",
        transform: `rotate(-90 12 ${y(0.5)})`,
      },
      names[1],
    ),
  );
}
const classOf = name => Math.max(0, classes.indexOf(name)) % 8;
function curveLegend(curves) {
  return el(
    "div",
    { class: "legend" },
    curves.map(curve =>
      el("span", {}, el("span", { class: `key key-${classOf(curve.label)}` }), nameNode(curve.label)),
    ),
  );
}
function rocPicture(found) {
  const svg = canvas(320, 300, "ROC curve"),
    x = linear(0, 1, 52, 304),
    y = linear(0, 1, 252, 12);
  unitFrame(svg, x, y, ["share of the others taken for it", "share of the class recognised"]);
  for (const curve of found.roc)
    svg.append(
      draw("path", {
        class: `curve s${classOf(curve.label)}`,
        d: "M" + curve.x.map((u, k) => `${x(u).toFixed(1)},${y(curve.y[k]).toFixed(1)}`).join("L"),
      }),
    );
  const box = figure(
    svg,
    `ROC${found.roc.length > 1 ? ", each class against the rest" : ` of ${found.roc[0].label}`}: AUC ${found.auc.value.toFixed(3)}`,
    "roc",
  );
  if (found.roc.length > 1) box.prepend(curveLegend(found.roc));
  return box;
}
function calibrationPicture(found) {
  const svg = canvas(320, 300, "Calibration"),
    x = linear(0, 1, 52, 304),
    y = linear(0, 1, 252, 12);
  unitFrame(svg, x, y, ["predicted probability", "share that was of the class"]);
  const isOne = found.calibration.length === 1;
  for (const curve of found.calibration) {
    const c = classOf(curve.label);
    if (isOne)
      curve.x.forEach((u, k) =>
        svg.append(
          draw("path", {
            class: `s${c}`,
            "stroke-opacity": 0.5,
            d: `M${x(u)},${y(curve.low[k])}V${y(curve.high[k])}`,
          }),
        ),
      );
    svg.append(
      draw("path", {
        class: `curve s${c}`,
        "stroke-opacity": 0.6,
        d: "M" + curve.x.map((u, k) => `${x(u).toFixed(1)},${y(curve.y[k]).toFixed(1)}`).join("L"),
      }),
    );
    curve.x.forEach((u, k) =>
      svg.append(
        draw(
          "circle",
          { class: `f${c}`, cx: x(u), cy: y(curve.y[k]), r: 3.5 },
          draw("title", {}, `${curve.label}: predicted ${percentText(u)}, seen ${percentText(curve.y[k])}`),
        ),
      ),
    );
  }
  const box = figure(
    svg,
    `Calibration${isOne ? ` of ${found.calibration[0].label}` : ""}: on the diagonal probabilities mean what they say`,
    "calibration",
  );
  if (!isOne) box.prepend(curveLegend(found.calibration));
  return box;
}
function confusionPicture(found) {
  const k = found.labels.length,
    left = 92,
    top = 44,
    side = Math.min(90, 220 / k);
  const svg = canvas(left + k * side + 10, top + k * side + 26, "Confusion matrix");
  svg.append(
    draw(
      "text",
      { class: "soft-text", x: left + (k * side) / 2, y: 12, "text-anchor": "middle" },
      "predicted",
    ),
  );
  svg.append(
    draw(
      "text",
      {
        class: "soft-text",
        x: 10,
        y: top + (k * side) / 2,
        "text-anchor": "middle",
        transform: `rotate(-90 10 ${top + (k * side) / 2})`,
      },
      "true",
    ),
  );
  found.confusion.forEach((row, i) => {
    const total = row.reduce((sum, one) => sum + one, 0) || 1;
    svg.append(
      label(found.labels[i], 10, { x: left - 8, y: top + (i + 0.5) * side + 4, "text-anchor": "end" }),
    );
    svg.append(
      label(found.labels[i], Math.max(4, Math.floor(side / 7)), {
        x: left + (i + 0.5) * side,
        y: top - 8,
        "text-anchor": "middle",
      }),
    );
    row.forEach((count, j) => {
      svg.append(
        draw(
          "rect",
          {
            x: left + j * side + 1,
            y: top + i * side + 1,
            width: side - 2,
            height: side - 2,
            rx: 3,
            class: i === j ? "accent-fill" : "f1",
            "fill-opacity": 0.06 + (0.5 * count) / total,
          },
          draw("title", {}, `${found.labels[i]} predicted as ${found.labels[j]}: ${count} of ${total}`),
        ),
      );
      svg.append(
        draw(
          "text",
          {
            x: left + (j + 0.5) * side,
            y: top + (i + 0.5) * side + 4,
            "text-anchor": "middle",
            "font-weight": i === j ? 650 : 400,
          },
          count,
        ),
      );
    });
  });
  return figure(svg, "Counts of held-out samples; the shade is the share of the true class", "confusion");
}

const PART_WORDS = {
  crowding: "how many neighbours are near",
  rounding: "members vote for one class only",
  rest: "all other parts together",
};
function partsPicture(row) {
  const names = row.parts.map(
    part =>
      PART_WORDS[part.kind] || (part.feature_2 ? `${part.feature_1} × ${part.feature_2}` : part.feature_1),
  );
  const [width, left, mostSigns] = isNarrow ? [350, 130, 19] : [560, 230, 34],
    height = 26 * row.parts.length + 30,
    most = Math.max(...row.parts.map(part => Math.abs(part.part))) || 1;
  const zero = left + (width - left - 20) / 2,
    x = linear(-most, most, left + 45, width - 50);
  const svg = canvas(width, height, `Parts of the margin of row ${row.row}`);
  svg.append(draw("path", { class: "axis", d: `M${x(0)},4V${height - 26}` }));
  row.parts.forEach((part, k) => {
    const y = 26 * k + 6,
      end = x(part.part),
      isUp = part.part >= 0;
    svg.append(label(names[k], mostSigns, { x: left - 6, y: y + 14, "text-anchor": "end" }));
    svg.append(
      draw("rect", {
        x: Math.min(x(0), end),
        y,
        width: Math.max(1, Math.abs(end - x(0))),
        height: 18,
        rx: 2,
        class: `f${classOf(isUp ? row.predicted : row.against)}`,
      }),
    );
    svg.append(
      draw(
        "text",
        { class: "soft-text", x: end + (isUp ? 5 : -5), y: y + 13, "text-anchor": isUp ? "start" : "end" },
        (isUp ? "+" : "−") + Math.abs(part.part).toPrecision(2),
      ),
    );
  });
  svg.append(
    label(`to ${row.predicted} →`, isNarrow ? 14 : 28, {
      class: "soft-text",
      x: zero + 14,
      y: height - 8,
      "text-anchor": "start",
    }),
  );
  svg.append(
    label(`← to ${row.against}`, isNarrow ? 14 : 28, {
      class: "soft-text",
      x: zero - 14,
      y: height - 8,
      "text-anchor": "end",
    }),
  );
  return figure(
    svg,
    `Row ${row.row} of the table, predicted ${row.predicted} with probability ${percentText(row.probability)}, truly ${row.true}; margin ${row.margin.toPrecision(3)}`,
    `row-${row.row}`,
  );
}
