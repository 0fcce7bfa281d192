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
const placeOf = name => Math.max(0, classes.indexOf(name));
const classOf = name => placeOf(name) % N_COLOURS;
function curveLegend(curves) {
  return el(
    "div",
    { class: "legend" },
    curves.map(curve =>
      el("span", {}, el("span", { class: `key key-${classOf(curve.label)}` }), nameNode(curve.label)),
    ),
  );
}
const lineOf = (curve, x, y) =>
  "M" + curve.x.map((u, k) => `${x(u).toFixed(1)},${y(curve.y[k]).toFixed(1)}`).join("L");
function curvePicture(title, names, curves, shown, marks) {
  const svg = canvas(320, 300, title),
    x = linear(0, 1, 52, 304),
    y = linear(0, 1, 252, 12);
  unitFrame(svg, x, y, names);
  for (const curve of curves.filter(one => !shown.includes(one)))
    svg.append(draw("path", { class: "grid", d: lineOf(curve, x, y) }));
  for (const curve of shown) {
    svg.append(draw("path", { class: `curve s${classOf(curve.label)}`, d: lineOf(curve, x, y) }));
    if (marks) svg.append(...marks(curve, x, y));
  }
  return svg;
}
// Of many classes one at a time: more curves than colours cannot be told apart.
function curvesBox(id, curves, pictureOf) {
  if (curves.length === 1) return pictureOf(curves);
  if (curves.length <= N_COLOURS) {
    const box = pictureOf(curves);
    box.prepend(curveLegend(curves));
    return box;
  }
  const picture = el("div", {}, pictureOf([curves[0]]));
  const choice = el(
    "select",
    { id, onchange: () => picture.replaceChildren(pictureOf([curves[+choice.value]])) },
    curves.map((curve, k) => el("option", { value: k }, curve.label)),
  );
  return el("div", {}, el("div", { class: "tools" }, el("label", { for: id }, "Class", choice)), picture);
}
const others = (curves, shown) => (curves.length > shown.length ? "; grey: the other classes" : "");
function rocPicture(found) {
  const names = ["share of the others taken for it", "share of the class recognised"];
  return curvesBox("roc-class", found.roc, shown =>
    figure(
      curvePicture("ROC curve", names, found.roc, shown),
      found.roc.length === 1
        ? `ROC of ${found.roc[0].label}: AUC ${found.auc.value.toFixed(3)}`
        : `ROC, each class against the rest: mean AUC ${found.auc.value.toFixed(3)}${others(found.roc, shown)}`,
      "roc",
    ),
  );
}
function calibrationPicture(found) {
  const names = ["predicted probability", "share that was of the class"];
  return curvesBox("calibration-class", found.calibration, shown => {
    const marks = (curve, x, y) =>
      curve.x.flatMap((u, k) => [
        shown.length === 1
          ? draw("path", {
              class: `s${classOf(curve.label)}`,
              "stroke-opacity": 0.5,
              d: `M${x(u)},${y(curve.low[k])}V${y(curve.high[k])}`,
            })
          : "",
        draw(
          "circle",
          { class: `f${classOf(curve.label)}`, cx: x(u), cy: y(curve.y[k]), r: 3.5 },
          draw("title", {}, `${curve.label}: predicted ${percentText(u)}, seen ${percentText(curve.y[k])}`),
        ),
      ]);
    return figure(
      curvePicture("Calibration", names, found.calibration, shown, marks),
      `Calibration${shown.length === 1 ? ` of ${shown[0].label}` : ""}: on the diagonal probabilities mean what they say${others(found.calibration, shown)}`,
      "calibration",
    );
  });
}
const MANY_CLASSES = 10;
function confusionPicture(found) {
  const k = found.labels.length,
    isLarge = k > MANY_CLASSES,
    widest = Math.max(...found.labels.map(name => widthOf(name)));
  const room = Math.min(90, widest + 1),
    left = 30 + room,
    side = isLarge ? 24 : Math.min(90, (310 - left) / k);
  // Names that do not fit above their columns stand upright.
  const isUpright = widest > side - 2,
    roomAbove = isUpright ? Math.min(70, widest + 1) : 12,
    top = 28 + roomAbove;
  const svg = canvas(left + k * side + 2, top + k * side + 8, "Confusion matrix");
  const middle = { x: left + (k * side) / 2, y: top + (k * side) / 2 };
  svg.append(
    draw("text", { class: "soft-text", x: middle.x, y: 12, "text-anchor": "middle" }, "predicted"),
    draw(
      "text",
      {
        class: "soft-text",
        x: 10,
        y: middle.y,
        "text-anchor": "middle",
        transform: `rotate(-90 10 ${middle.y})`,
      },
      "true",
    ),
  );
  found.confusion.forEach((row, i) => {
    const total = row.reduce((sum, one) => sum + one, 0) || 1,
      name = found.labels[i],
      at = left + (i + 0.5) * side;
    svg.append(
      label(name, room, { x: left - 8, y: top + (i + 0.5) * side + 4, "text-anchor": "end" }),
      isUpright
        ? label(name, roomAbove, { x: at + 4, y: top - 8, transform: `rotate(-90 ${at + 4} ${top - 8})` })
        : label(name, side - 2, { x: at, y: top - 8, "text-anchor": "middle" }),
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
            // No colour of a class: a cell belongs to two.
            class: i === j ? "soft-fill right-cell" : "soft-fill",
            "fill-opacity": 0.06 + (0.5 * count) / total,
          },
          draw("title", {}, `${name} predicted as ${found.labels[j]}: ${count} of ${total}`),
        ),
      );
      if (count || !isLarge)
        svg.append(
          draw(
            "text",
            {
              x: left + (j + 0.5) * side,
              y: top + (i + 0.5) * side + 4,
              "text-anchor": "middle",
              "font-size": isLarge ? 11 : 12,
              "font-weight": i === j ? 650 : 400,
            },
            count,
          ),
        );
    });
  });
  const box = figure(
    svg,
    "Counts of held-out samples; the shade is the share of the true class, the diagonal is right",
    "confusion",
  );
  if (isLarge) {
    box.classList.add("large");
    box.style.maxWidth = svg.style.width = `${left + k * side + 2}px`;
  }
  return box;
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
  // On a narrow screen a name stands above its bar.
  const [width, left, step] = isNarrow ? [330, 0, 42] : [560, 230, 26],
    height = step * row.parts.length + 30,
    most = Math.max(...row.parts.map(part => Math.abs(part.part))) || 1;
  const x = linear(-most, most, left + 45, width - 50),
    zero = x(0);
  const toward = classOf(row.predicted),
    away = classOf(row.against) === toward ? "soft-fill" : `f${classOf(row.against)}`;
  const svg = canvas(width, height, `Parts of the margin of row ${row.row}`);
  row.parts.forEach((part, k) => {
    const y = step * (k + 1) - 20,
      end = x(part.part),
      isUp = part.part >= 0;
    svg.append(
      isNarrow
        ? label(names[k], width, { x: 0, y: y - 6 })
        : label(names[k], left - 8, { x: left - 6, y: y + 14, "text-anchor": "end" }),
      draw("path", { class: "axis", d: `M${zero},${y - (isNarrow ? 2 : 6)}v${isNarrow ? 22 : step}` }),
      draw("rect", {
        x: Math.min(zero, end),
        y,
        width: Math.max(1, Math.abs(end - zero)),
        height: 18,
        rx: 2,
        class: isUp ? `f${toward}` : away,
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
  const aside = { class: "soft-text", y: height - 8 };
  svg.append(
    label(`to ${row.predicted} →`, width - zero - 16, { ...aside, x: zero + 14, "text-anchor": "start" }),
    label(`← to ${row.against}`, zero - left - 16, { ...aside, x: zero - 14, "text-anchor": "end" }),
  );
  return figure(
    svg,
    `Row ${row.row} of the table, predicted ${row.predicted} with probability ${percentText(row.probability)}, truly ${row.true}; margin ${row.margin.toPrecision(3)}`,
    `row-${row.row}`,
  );
}

// Predicted against observed numbers; on the line they are equal.
function numbersPicture(found) {
  const target = data.target || "the outcome",
    both = [...found.observed, ...found.predicted];
  const column = values => ({ levels: null, values });
  // Both sides have one scale, so that the line is a diagonal.
  const side = (from, to) => sideOf(column(both), from, to);
  const {
    svg,
    x,
    y,
    ends: [x0, x1, y0, y1],
  } = framed("Predicted and observed", [`${target}, predicted`, `${target}, observed`], side, side);
  const low = Math.min(...both),
    high = Math.max(...both);
  svg.append(
    draw("path", { class: "axis", "stroke-dasharray": "3 4", d: `M${x.at(low)},${y.at(low)}L${x.at(high)},${y.at(high)}` }),
  );
  found.rows.forEach((row, k) =>
    svg.append(
      draw(
        "circle",
        {
          class: "f0",
          "fill-opacity": 0.5,
          cx: x.at(found.predicted[k]).toFixed(1),
          cy: y.at(found.observed[k]).toFixed(1),
          r: 3,
        },
        draw("title", {}, `row ${row}: predicted ${short(found.predicted[k])}, observed ${short(found.observed[k])}`),
      ),
    ),
  );
  return figure(
    svg,
    `Held-out samples: R² ${found.r2.value.toFixed(2).replace("-", "−")}; on the line prediction and observation agree`,
    "predicted-observed",
  );
}

function startPredictions() {
  const found = data.performance;
  if (!found) return;
  const cell = (one, text) => ({
    value: one.value,
    text: `${text(one.value)} (${text(one.low)} to ${text(one.high)})`,
  });
  const decimals = x => x.toFixed(3).replace("-", "−");
  const columns = data.data.number
    ? [
        ["R²", one => cell(one.r2, decimals)],
        ["mean absolute error", one => cell(one.mae, short)],
      ]
    : [
        ["AUC", one => cell(one.auc, x => x.toFixed(3))],
        ["balanced accuracy", one => cell(one.balanced_accuracy, percentText)],
        ["accuracy", one => cell(one.accuracy, percentText)],
      ];
  byId("method-table").tabIndex = 0;
  byId("method-table").setAttribute("role", "region");
  byId("method-table").setAttribute("aria-label", "Methods on the same folds");
  byId("method-table").append(
    plainTable(
      "Methods on the same folds, with 95 % intervals over the held-out samples",
      ["method", ...columns.map(([name]) => name)],
      found.methods.map(one => [one.name, ...columns.map(([, text]) => text(one))]),
      "methods",
    ),
  );
  if (data.data.number) return byId("prediction-pictures").append(numbersPicture(found));
  const confusion = confusionPicture(found),
    pictures = byId("prediction-pictures");
  if (confusion.classList.contains("large")) pictures.before(confusion);
  else pictures.append(confusion);
  pictures.append(rocPicture(found), calibrationPicture(found));
  const box = byId("explained"),
    picture = el("div");
  if (!found.explained.length) return box.append("This model explains no single samples.");
  const choice = el(
    "select",
    {
      id: "explained-row",
      onchange: () => picture.replaceChildren(partsPicture(found.explained[+choice.value])),
    },
    found.explained.map((row, k) => el("option", { value: k }, `row ${row.row}: ${row.why}`)),
  );
  box.append(el("div", { class: "tools" }, el("label", { for: "explained-row" }, "Sample", choice)), picture);
  picture.append(partsPicture(found.explained[0]));
}
startPredictions();
