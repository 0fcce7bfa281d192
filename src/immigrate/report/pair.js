// One pair, or one feature, with the samples.

function samplesPicture(a, b, nameA, nameB) {
  const A = columnOf(a),
    B = columnOf(b);
  const { svg, x, y } = framed(
    `Samples: ${nameA} and ${nameB}`,
    [nameA, nameB],
    (from, to) => sideOf(A, from, to),
    (from, to) => sideOf(B, from, to),
  );
  let without = 0;
  samples.rows.forEach((row, k) => {
    const u = A.values[k],
      v = B.values[k];
    if (u === null || v === null) without++;
    else svg.append(pointOf(samples.codes[k], x.spread(u, k), y.spread(v, k + 7919), row));
  });
  const said = [
    samples.rows.length < samples.n ? `${countText(samples.rows.length)} of ${countText(samples.n)} samples, drawn at random` : "",
    without ? `${without} without a value of either are not drawn` : "",
    A.levels || B.levels ? "levels are spread out, so that samples do not hide each other" : "",
  ]
    .filter(Boolean)
    .join("; ");
  return figure(svg, `The samples${said ? ` (${said})` : ""}`, "pair-samples");
}

// Parts of a feature in which shares are counted: levels, or thirds of the samples.
function bandsOf(column) {
  if (column.levels) {
    const counts = column.levels.map((text, k) => [column.values.filter(v => v === k).length, k]);
    const kept = counts
      .sort((p, q) => q[0] - p[0] || p[1] - q[1])
      .slice(0, MOST_BANDS)
      .map(one => one[1])
      .sort((p, q) => p - q);
    return { names: kept.map(k => column.levels[k]), of: v => kept.indexOf(v) };
  }
  const known = column.values.filter(v => v !== null).sort((p, q) => p - q);
  const cuts = [quantile(known, 1 / 3), quantile(known, 2 / 3)];
  return {
    names: [`≤ ${short(cuts[0])}`, "middle", `> ${short(cuts[1])}`],
    of: v => (v <= cuts[0] ? 0 : v <= cuts[1] ? 1 : 2),
  };
}
// Of a number the mean in each part.
function meansPicture(a, b, nameA, nameB) {
  const A = columnOf(a),
    B = columnOf(b),
    left = bandsOf(A),
    up = bandsOf(B);
  const mean = values => values.reduce((sum, one) => sum + one, 0) / values.length;
  const cells = left.names.map(() => up.names.map(() => []));
  samples.rows.forEach((row, k) => {
    if (A.values[k] === null || B.values[k] === null) return;
    const i = left.of(A.values[k]),
      j = up.of(B.values[k]);
    if (i >= 0 && j >= 0) cells[i][j].push(samples.numbers[k]);
  });
  const overall = mean(samples.numbers),
    most = Math.max(...cells.flat().filter(own => own.length).map(own => Math.abs(mean(own) - overall))) || 1;
  const bands = names => (from, to) => {
    const step = (to - from) / names.length;
    return { ticks: names.map((text, k) => ({ at: from + (k + 0.5) * step, text })), step: Math.abs(step) };
  };
  const target = data.target || "the outcome";
  const {
    svg,
    ends: [x0, x1, y0, y1],
  } = framed(`Mean of ${target} by ${nameA} and ${nameB}`, [nameA, nameB], bands(left.names), bands(up.names));
  const w = (x1 - x0) / left.names.length,
    h = (y0 - y1) / up.names.length;
  cells.forEach((row, i) =>
    row.forEach((own, j) => {
      const x = x0 + i * w,
        y = y0 - (j + 1) * h,
        box = { x: x + 1, y: y + 1, width: w - 2, height: h - 2, rx: 3 };
      if (!own.length) return svg.append(draw("rect", { ...box, class: "faint-fill" }));
      const beyond = mean(own) - overall,
        middle = { x: x + w / 2, "text-anchor": "middle" };
      svg.append(
        draw("rect", {
          ...box,
          class: beyond >= 0 ? "f1" : "f0",
          "fill-opacity": 0.03 + (0.5 * Math.abs(beyond)) / most,
        }),
        label(short(mean(own)), w - 6, { ...middle, y: y + h / 2 + 1, "font-weight": 650 }),
      );
      if (h > 34) svg.append(label(`n = ${own.length}`, w - 6, { ...middle, y: y + h / 2 + 16, "font-size": 11 }));
    }),
  );
  const thirds = A.levels && B.levels ? "" : "; numbers in thirds";
  return figure(svg, `Mean of ${target} in each part; ${short(overall)} of all${thirds}`, "pair-means");
}
function sharesPicture(a, b, nameA, nameB) {
  const A = columnOf(a),
    B = columnOf(b),
    left = bandsOf(A),
    up = bandsOf(B);
  const counts = left.names.map(() => up.names.map(() => classes.map(() => 0)));
  samples.rows.forEach((row, k) => {
    if (A.values[k] === null || B.values[k] === null) return;
    const i = left.of(A.values[k]),
      j = up.of(B.values[k]);
    if (i >= 0 && j >= 0) counts[i][j][samples.codes[k]]++;
  });
  if (samples.numbers) return meansPicture(a, b, nameA, nameB);
  const overall = samples.codes.filter(code => code === 1).length / samples.codes.length;
  const bands = names => (from, to) => {
    const step = (to - from) / names.length;
    return {
      ticks: names.map((text, k) => ({ at: from + (k + 0.5) * step, text })),
      step: Math.abs(step),
    };
  };
  const {
    svg,
    ends: [x0, x1, y0, y1],
  } = framed(
    `Shares of the classes by ${nameA} and ${nameB}`,
    [nameA, nameB],
    bands(left.names),
    bands(up.names),
  );
  const w = (x1 - x0) / left.names.length,
    h = (y1 - y0) / up.names.length;
  counts.forEach((row, i) =>
    row.forEach((cell, j) => {
      const n = cell.reduce((sum, one) => sum + one, 0),
        x = x0 + i * w,
        y = y0 + (j + 1) * h,
        height = -h;
      const box = { x: x + 1, y: y + 1, width: w - 2, height: height - 2, rx: 3 };
      if (!n) return svg.append(draw("rect", { ...box, class: "faint-fill" }));
      const middle = x + w / 2,
        centre = y + height / 2;
      if (classes.length === 2) {
        const share = cell[1] / n,
          beyond = share - overall;
        svg.append(
          draw("rect", {
            ...box,
            class: beyond >= 0 ? "f1" : "f0",
            "fill-opacity": 0.03 + (0.6 * Math.abs(beyond)) / (beyond >= 0 ? 1 - overall : overall),
          }),
        );
        svg.append(
          draw(
            "text",
            { x: middle, y: centre + 1, "text-anchor": "middle", "font-weight": 650 },
            percentText(share),
          ),
        );
      } else if (classes.length > N_COLOURS) {
        const most = cell.indexOf(Math.max(...cell));
        svg.append(
          draw("rect", {
            ...box,
            class: "soft-fill",
            "fill-opacity": 0.04 + (0.5 * cell[most]) / n,
          }),
          label(`${classes[most]} ${percentText(cell[most] / n)}`, w - 8, {
            x: middle,
            y: centre + 1,
            "text-anchor": "middle",
            "font-weight": 650,
          }),
        );
      } else {
        let from = x + 6;
        cell.forEach((count, c) => {
          const width = ((w - 12) * count) / n;
          if (count)
            svg.append(
              draw(
                "rect",
                { x: from, y: centre - 12, width, height: 14, class: `f${c}` },
                draw("title", {}, `${classes[c]}: ${count} of ${n}`),
              ),
            );
          from += width;
        });
      }
      if (height > 34)
        svg.append(
          draw(
            "text",
            { "font-size": 11, x: middle, y: centre + 16, "text-anchor": "middle" },
            `n = ${n}`,
          ),
        );
    }),
  );
  const thirds = A.levels && B.levels ? "" : "; numbers in thirds";
  return figure(
    svg,
    classes.length === 2
      ? `Share of ${classes[1]} in each part; ${percentText(overall)} of all${thirds}`
      : classes.length > N_COLOURS
        ? `The most frequent class in each part and its share${thirds}`
        : `Shares of the classes in each part${thirds}`,
    "pair-shares",
  );
}

function surfacePicture(surface, nameA, nameB, c) {
  const asColumn = one =>
    one.has_levels ? { levels: one.values.map(String), values: [] } : { levels: null, values: one.values };
  const {
    svg,
    x,
    y,
    ends: [x0, x1, y0, y1],
  } = framed(
    `Joint effect of ${nameA} and ${nameB}`,
    [nameA, nameB],
    (from, to) => sideOf(asColumn(surface.x), from, to),
    (from, to) => sideOf(asColumn(surface.y), from, to),
  );
  const value = surface.value[c],
    most = Math.max(...value.flat().map(Math.abs)) || 1;
  const edges = (side, axis, from, to) =>
    axis.has_levels
      ? axis.values.map((_, k) => [side.at(k) - side.step / 2, side.at(k) + side.step / 2])
      : axis.values.map((v, k) => [
          k ? (side.at(axis.values[k - 1]) + side.at(v)) / 2 : from,
          k < axis.values.length - 1 ? (side.at(v) + side.at(axis.values[k + 1])) / 2 : to,
        ]);
  const across = edges(x, surface.x, x0, x1),
    along = edges(y, surface.y, y0, y1);
  const isNumber = Boolean(samples.numbers),
    shown = isNumber ? 1 : classes.indexOf(surface.classes[c]),
    // Beside several classes grey, and orange where the class itself is grey.
    isGrey = shown % N_COLOURS === 7,
    below = isNumber || classes.length === 2 ? 1 - shown : isGrey ? 1 : 7;
  value.forEach((row, i) =>
    row.forEach((v, j) => {
      const left = Math.min(...across[i]),
        top = Math.min(...along[j]);
      svg.append(
        draw(
          "rect",
          {
            x: left.toFixed(1),
            y: top.toFixed(1),
            width: (Math.max(...across[i]) - left).toFixed(1),
            height: (Math.max(...along[j]) - top).toFixed(1),
            // Cells that overlap, or leave a gap, would draw a grid.
            "shape-rendering": "crispEdges",
            class: `f${(v >= 0 ? shown : below) % N_COLOURS}`,
            "fill-opacity": (((surface.is_sure[c][i][j] ? 0.62 : 0.22) * Math.abs(v)) / most).toFixed(3),
          },
          draw("title", {}, `${v >= 0 ? "+" : "−"}${Math.abs(v).toPrecision(2)}`),
        ),
      );
      if (surface.x.has_levels && surface.y.has_levels)
        svg.append(
          draw(
            "text",
            {
              x: (across[i][0] + across[i][1]) / 2,
              y: (along[j][0] + along[j][1]) / 2 + 4,
              "text-anchor": "middle",
            },
            `${v >= 0 ? "+" : "−"}${Math.abs(v).toFixed(1)}`,
          ),
        );
    }),
  );
  if (isNumber)
    return figure(
      svg,
      `What the pair adds to ${surface.classes[c]} beyond both features alone: at most ±${most.toPrecision(2)}; orange where it raises it, blue where it lowers it; pale where the interval holds 0`,
      "pair-effect",
    );
  const colour = classes.length === 2 ? classes[below] : isGrey ? "orange" : "grey";
  return figure(
    svg,
    `What the pair adds to the log-odds of ${surface.classes[c]} beyond both features alone: at most ±${most.toPrecision(2)}; ${colour} where it is negative; pale where the interval holds 0`,
    "pair-effect",
  );
}

// Of several classes the one on which the pair acts most comes first.
function surfaceBox(surface, nameA, nameB) {
  const reach = c => Math.max(...surface.value[c].flat().map(Math.abs));
  const first = surface.classes.reduce((best, _, c) => (reach(c) > reach(best) ? c : best), 0);
  const picture = el("div", {}, surfacePicture(surface, nameA, nameB, first));
  if (surface.classes.length === 1) return picture;
  const choice = el(
    "select",
    {
      id: "surface-class",
      onchange: () => picture.replaceChildren(surfacePicture(surface, nameA, nameB, +choice.value)),
    },
    surface.classes.map((name, c) => el("option", { value: c, selected: c === first }, name)),
  );
  return el(
    "div",
    {},
    el("div", { class: "tools" }, el("label", { for: "surface-class" }, "Effect on", choice)),
    picture,
  );
}

// A paragraph of its own: it may begin with a label, which keeps its case.
const wordsOf = direction => (direction ? [el("p", {}, sentence(direction))] : []);

// A small p before those found are part of the model, and a large one after.
const MIRROR = "not beyond those found";
const isMirror = (pairs, i) => pairs.p && pairs.p_adjusted[i] !== null && pairs.p_adjusted[i] <= alpha && !pairs.is_found[i];

function showPair(i) {
  const { pairs } = data,
    box = byId("pair-picture"),
    a = pairs.a[i],
    b = pairs.b[i],
    names = [pairs.names[a], pairs.names[b]];
  const parts = [el("h3", {}, pairNode(...names))];
  if (pairs.p) {
    const is = pairs.is_found[i]
      ? "Shown to act together"
      : `Not shown to act together${isMirror(pairs, i) ? " beyond the pairs found" : ""}`;
    parts.push(
      el(
        "p",
        {},
        el("b", {}, is),
        `: adjusted p ${pText(pairs.p_adjusted[i])}${isMirror(pairs, i) ? " before these are in the model" : ""}${sizeClause(pairs, i)}; weight in the model ${numberText(pairs.weight[i])}.`,
      ),
      ...wordsOf(pairs.direction[i]),
    );
  }
  if (columnOf(a) && columnOf(b))
    parts.push(classLegend(), samplesPicture(a, b, ...names), sharesPicture(a, b, ...names));
  else
    parts.push(
      el(
        "p",
        { class: "notice" },
        "The samples of these features are not in this file, to keep it small: it holds those of the strongest pairs. Make a report of these columns alone to see them.",
      ),
    );
  const surface = data.surfaces.find(one => (one.a === a && one.b === b) || (one.a === b && one.b === a));
  if (surface) parts.push(surfaceBox(surface, pairs.names[surface.a], pairs.names[surface.b]));
  box.replaceChildren(...parts);
  box.dataset.pair = names.join(" × ");
  say(`Picture of ${names.join(" and ")}`);
}

function showFeature(i) {
  const { features, pairs } = data,
    name = features.name[i],
    place = pairs.names.indexOf(name),
    box = byId("feature-picture");
  const parts = [el("h3", {}, nameNode(name))];
  if (features.p) {
    parts.push(
      el(
        "p",
        {},
        el("b", {}, features.is_found[i] ? "Shown to matter" : "Not shown to matter on its own"),
        `: adjusted p ${pText(features.p_adjusted[i])}; given the others adjusted p ${pText(features.given_adjusted[i])}${sizeClause(features, i)}.`,
        features.in_pair[i] ? " It is in a pair that acts together." : "",
      ),
      ...wordsOf(features.direction[i]),
    );
  }
  const column = columnOf(place);
  if (column) {
    const numbers = samples.numbers,
      known = numbers ? { levels: null, values: numbers } : { levels: classes, values: samples.codes };
    const { svg, x, y } = framed(
      `Samples${numbers ? "" : " by class"}: ${name}`,
      [name, data.target || (numbers ? "outcome" : "class")],
      (from, to) => sideOf(column, from, to),
      (from, to) => sideOf(known, from, to),
      numbers ? 0 : classes.length,
    );
    samples.rows.forEach((row, k) => {
      if (column.values[k] !== null)
        svg.append(
          pointOf(samples.codes[k], x.spread(column.values[k], k), y.spread(known.values[k], k + 7919), row),
        );
    });
    if (!column.levels && !numbers)
      classes.forEach((_, c) => {
        const own = column.values
          .filter((v, k) => v !== null && samples.codes[k] === c)
          .sort((p, q) => p - q);
        if (own.length)
          svg.append(
            draw("path", {
              class: "ink-line",
              "stroke-width": 2.5,
              d: `M${x.at(quantile(own, 0.5))},${y.at(c) - y.step * 0.36}v${y.step * 0.72}`,
            }),
          );
      });
    parts.push(
      figure(
        svg,
        numbers ? "The samples" : `The samples of each class${column.levels ? "" : "; the line is the median"}`,
        "feature-samples",
      ),
    );
  } else if (place >= 0)
    parts.push(
      el("p", { class: "notice" }, "The samples of this feature are not in this file, to keep it small."),
    );
  box.replaceChildren(...parts);
  box.dataset.feature = name;
  say(`Picture of ${name}`);
}
