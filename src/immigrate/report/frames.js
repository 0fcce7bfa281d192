// Axes, frames and marks of pictures with samples.
const samples = data.samples;
const MOST_BANDS = 8;
const columnOf = place => samples.columns[place];
// The same jitter in every browser and every time.
function jitter(k) {
  const x = Math.sin(12.9898 * (k + 1)) * 43758.5453;
  return x - Math.floor(x) - 0.5;
}
function quantile(sorted, q) {
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.round(q * (sorted.length - 1))))];
}

// One side of a picture: where values go, and its ticks.
function sideOf(column, from, to, extra = []) {
  if (column.levels) {
    const step = (to - from) / column.levels.length,
      middle = k => from + (k + 0.5) * step;
    return {
      at: middle,
      spread: (k, row) => middle(k) + 0.62 * step * jitter(row),
      ticks: column.levels.map((text, k) => ({ at: middle(k), text })),
      step: Math.abs(step),
    };
  }
  const known = [...column.values.filter(v => v !== null), ...extra].sort((a, b) => a - b);
  const low = known[0],
    high = known[known.length - 1],
    middle = quantile(known, 0.5);
  const isLog = low > 0 && quantile(known, 0.98) - middle > 4 * (middle - quantile(known, 0.02));
  const pad = to > from ? 8 : -8;
  const turn = isLog ? Math.log10 : x => x,
    place = linear(turn(low), turn(high), from + pad, to - pad);
  const at = v => place(turn(v));
  const ticks = (isLog ? logTicks(low, high) : ticksBetween(low, high, 5)).map(v => ({
    at: at(v),
    text: short(v),
  }));
  return { at, spread: at, ticks, isLog };
}
const FRAME = { left: 84, right: 10, top: 8, bottom: 48, width: 440, height: 330 };
function framed(title, nameX, nameY, x, y) {
  const { left, right, top, bottom, width, height } = FRAME,
    svg = canvas(width, height, title);
  svg.append(
    draw("rect", {
      class: "frame",
      x: left,
      y: top,
      width: width - left - right,
      height: height - top - bottom,
    }),
  );
  for (const tick of thinned(x.ticks, 34)) {
    svg.append(draw("path", { class: "axis", d: `M${tick.at},${height - bottom}v4` }));
    svg.append(
      label(tick.text, Math.max(5, Math.floor((x.step || 50) / 6.5)), {
        class: "soft-text",
        x: tick.at,
        y: height - bottom + 16,
        "text-anchor": "middle",
      }),
    );
  }
  for (const tick of thinned(y.ticks, 14)) {
    svg.append(draw("path", { class: "axis", d: `M${left},${tick.at}h-4` }));
    svg.append(
      label(tick.text, 9, { class: "soft-text", x: left - 7, y: tick.at + 4, "text-anchor": "end" }),
    );
  }
  svg.append(label(nameX, 52, { x: (left + width - right) / 2, y: height - 10, "text-anchor": "middle" }));
  svg.append(
    label(nameY, 40, {
      x: 14,
      y: (top + height - bottom) / 2,
      "text-anchor": "middle",
      transform: `rotate(-90 14 ${(top + height - bottom) / 2})`,
    }),
  );
  return svg;
}
function thinned(ticks, least) {
  const kept = [];
  for (const tick of ticks)
    if (!kept.length || Math.abs(tick.at - kept[kept.length - 1].at) >= least) kept.push(tick);
  return kept;
}
// Shape and colour both say the class.
const SHAPES = [
  (x, y) => draw("circle", { cx: x, cy: y, r: 3.3 }),
  (x, y) => draw("path", { d: `M${x},${y - 4.2}l4.2,4.2l-4.2,4.2l-4.2,-4.2z` }),
  (x, y) => draw("path", { d: `M${x},${y - 4}l4,7h-8z` }),
  (x, y) => draw("rect", { x: x - 3, y: y - 3, width: 6, height: 6 }),
];
function pointOf(code, x, y, row) {
  const mark = SHAPES[code % SHAPES.length](+x.toFixed(1), +y.toFixed(1));
  mark.setAttribute("class", `f${code % 8}`);
  mark.setAttribute("fill-opacity", 0.72);
  mark.append(draw("title", {}, `row ${row}: ${classes[code]}`));
  return mark;
}
function classLegend() {
  return el(
    "div",
    { class: "legend" },
    classes.map((name, c) => {
      const svg = draw(
        "svg",
        { viewBox: "0 0 12 12", width: 12, height: 12, "aria-hidden": "true" },
        pointOf(c, 6, 6, ""),
      );
      svg.style.display = "inline";
      svg.style.width = "12px";
      return el("span", {}, svg, " ", nameNode(name));
    }),
  );
}
const bounds = () => [FRAME.left, FRAME.width - FRAME.right, FRAME.height - FRAME.bottom, FRAME.top];
