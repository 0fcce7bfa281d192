// Axes, frames and marks of pictures with samples.
const samples = data.samples;
const MOST_BANDS = 8,
  N_COLOURS = 8;
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
// A picture is drawn at the size at which it is seen, so that its texts keep theirs.
const [WIDE, TALL] = isNarrow ? [330, 290] : [440, 330];
const MARGIN = { right: 10, top: 8, bottom: 48 },
  LEAST_ROW = 16;
// sideX and sideY make a side from its two ends; the rows of many classes make a picture taller.
function framed(title, [nameX, nameY], sideX, sideY, rows = 0) {
  const height = Math.max(TALL, LEAST_ROW * rows + MARGIN.top + MARGIN.bottom);
  const top = MARGIN.top,
    bottom = height - MARGIN.bottom,
    right = WIDE - MARGIN.right;
  const y = sideY(bottom, top),
    textsY = thinned(y.ticks, () => 14),
    widest = Math.max(...textsY.map(tick => widthOf(tick.text, 11)));
  const room = Math.min(WIDE / 3, widest + 1),
    left = Math.max(50, 32 + room);
  const x = sideX(left, right),
    roomX = x.step ? Math.max(34, x.step - 4) : WIDE;
  const svg = canvas(WIDE, height, title);
  svg.append(
    draw("rect", { class: "frame", x: left, y: top, width: right - left, height: bottom - top }),
  );
  for (const tick of thinned(x.ticks, text => Math.min(roomX, widthOf(text, 11)) + 6)) {
    svg.append(draw("path", { class: "axis", d: `M${tick.at},${bottom}v4` }));
    svg.append(
      label(tick.text, roomX, {
        class: "soft-text",
        x: tick.at,
        y: bottom + 16,
        "text-anchor": "middle",
      }),
    );
  }
  for (const tick of textsY) {
    svg.append(draw("path", { class: "axis", d: `M${left},${tick.at}h-4` }));
    svg.append(
      label(tick.text, room, { class: "soft-text", x: left - 7, y: tick.at + 4, "text-anchor": "end" }),
    );
  }
  svg.append(
    label(nameX, right - left, { x: (left + right) / 2, y: height - 10, "text-anchor": "middle" }),
  );
  svg.append(
    label(nameY, height - 16, {
      x: 14,
      y: Math.min((top + bottom) / 2, height - 8 - Math.min(height - 16, widthOf(nameY)) / 2),
      "text-anchor": "middle",
    }),
  );
  const upright = svg.lastChild;
  upright.setAttribute("transform", `rotate(-90 14 ${upright.getAttribute("y")})`);
  return { svg, x, y, ends: [left, right, bottom, top] };
}
// Ticks whose texts do not touch; `room` says how much a text takes.
function thinned(ticks, room) {
  const kept = [];
  for (const tick of ticks) {
    const last = kept[kept.length - 1];
    if (!last || Math.abs(tick.at - last.at) >= (room(tick.text) + room(last.text)) / 2) kept.push(tick);
  }
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
  // Colours come again after eight classes, and then with the next shape.
  const shape = SHAPES[(code + Math.floor(code / N_COLOURS)) % SHAPES.length];
  const mark = shape(+x.toFixed(1), +y.toFixed(1));
  mark.setAttribute("class", `f${code % N_COLOURS}`);
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
