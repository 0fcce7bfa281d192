// Pictures of many pairs.
const MOST_IN_MAP = 25,
  MOST_LINES = 40,
  MOST_NODES = 24;
// An adjusted p of 1e-6 or less has the full colour.
const strength = p => (p === null || p === undefined ? 0 : Math.min(1, -Math.log10(Math.max(p, 1e-6)) / 6));

function placesByEvidence(pairs, most) {
  const seen = new Set();
  for (let i = 0; i < pairs.a.length && seen.size < most; i++) {
    seen.add(pairs.a[i]);
    if (seen.size < most) seen.add(pairs.b[i]);
  }
  return [...seen];
}

const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const isPress = event => event.key === "Enter" || event.key === " ";

// The cells of a map are one stop of the Tab key: arrows go from cell to cell, Enter opens.
function walkable(svg, cells) {
  const at = new Map(cells.map(cell => [`${cell.dataset.row} ${cell.dataset.column}`, cell]));
  cells.forEach((cell, k) => cell.setAttribute("tabindex", k ? -1 : 0));
  svg.addEventListener("keydown", event => {
    const cell = event.target.closest(".cell"),
      step = ARROWS[event.key];
    if (!cell || !(step || isPress(event))) return;
    event.preventDefault();
    if (!step) return cell.dispatchEvent(new MouseEvent("click"));
    let [row, column, next] = [+cell.dataset.row, +cell.dataset.column];
    // A pair that is not listed has no cell: go on to the next that has one.
    for (let k = 0; k < MOST_IN_MAP && !next; k++) next = at.get(`${(row += step[0])} ${(column += step[1])}`);
    if (!next) return;
    cell.setAttribute("tabindex", -1);
    next.setAttribute("tabindex", 0);
    next.focus();
  });
}

function heatMap(threshold, openPair, openFeature) {
  const { pairs, features } = data,
    places = placesByEvidence(pairs, MOST_IN_MAP),
    m = places.length;
  const widest = Math.max(...places.map(place => widthOf(pairs.names[place])));
  const room = Math.min(isNarrow ? 110 : 180, widest + 1),
    roomBelow = Math.min(110, widest + 1),
    left = room + 14,
    top = 12;
  const side = Math.max(16, Math.min(40, Math.floor(((isNarrow ? 330 : 620) - left - 14) / m)));
  // Names below lean to the left: the first ones need room there.
  const width = Math.max(left + m * side + 14, 326),
    foot = top + m * side + 0.82 * roomBelow + 24,
    height = foot + 34;
  const svg = canvas(width, height, `Map of the evidence for pairs of ${m} features`, "group");
  svg.style.maxWidth = `${1.3 * width}px`;
  // Where the cells would be too small for a finger the map is wider than the screen.
  svg.style.minWidth = isNarrow && width > 340 ? `${width}px` : "0";
  const fullness = p =>
    p !== null && p > threshold ? 0.04 + 0.25 * strength(p) : 0.06 + 0.94 * strength(p);
  const at = new Map(places.map((place, k) => [place, k])),
    own = new Map(features.name.map((name, i) => [name, i]));
  const rectOf = (i, j, p, isFound, title, act) =>
    draw(
      "rect",
      {
        x: left + j * side + 1,
        y: top + i * side + 1,
        width: side - 2,
        height: side - 2,
        rx: 2,
        class: `cell accent-fill${isFound ? " found-cell" : ""}`,
        role: "button",
        "aria-label": title,
        "data-row": i,
        "data-column": j,
        "fill-opacity": fullness(p),
        onclick: act,
      },
      draw("title", {}, title),
    );
  places.forEach((place, k) => {
    const name = pairs.names[place],
      middle = top + (k + 0.6) * side;
    svg.append(label(name, room, { x: left - 8, y: middle + 2, "text-anchor": "end" }));
    const x = left + (k + 0.6) * side,
      y = top + m * side + 12,
      most = Math.min(roomBelow, (x - 4) / Math.cos((55 * Math.PI) / 180));
    svg.append(label(name, most, { x, y, "text-anchor": "end", transform: `rotate(-55 ${x} ${y})` }));
    const i = own.get(name);
    if (i !== undefined) {
      const p = features.p_adjusted[i];
      const rect = rectOf(k, k, p, features.is_found[i], `${name} alone: adjusted p ${pText(p)}`, () =>
        openFeature(i),
      );
      rect.setAttribute("rx", side / 2);
      rect.dataset.feature = name;
      svg.append(rect);
    }
  });
  for (let i = 0; i < pairs.a.length; i++) {
    const a = at.get(pairs.a[i]),
      b = at.get(pairs.b[i]);
    if (a === undefined || b === undefined) continue;
    const title = `${pairs.names[pairs.a[i]]} × ${pairs.names[pairs.b[i]]}: adjusted p ${pText(pairs.p_adjusted[i])}`;
    for (const [row, column] of [
      [a, b],
      [b, a],
    ]) {
      const rect = rectOf(row, column, pairs.p_adjusted[i], pairs.is_found[i], title, () => openPair(i));
      rect.dataset.pair = i;
      svg.append(rect);
    }
  }
  svg.append(draw("text", { class: "soft-text", x: 2, y: foot + 12 }, "adjusted p"));
  [1, 0.05, 1e-3, 1e-6].forEach((p, k) => {
    const x = 74 + 62 * k;
    svg.append(
      draw("rect", {
        class: "accent-fill",
        x,
        y: foot,
        width: 14,
        height: 14,
        rx: 2,
        "fill-opacity": fullness(p),
      }),
      draw("text", { class: "soft-text", x: x + 19, y: foot + 12 }, ["1", "0.05", "0.001", "≤ 10⁻⁶"][k]),
    );
  });
  walkable(svg, [...svg.querySelectorAll(".cell")]);
  const rest = new Set([...pairs.a, ...pairs.b]).size - m;
  return figure(
    svg,
    `The fuller the colour, the stronger the evidence; framed: shown. Round: a feature on its own.${rest > 0 ? ` The ${m} features of the strongest pairs; ${countText(rest)} more are in the table.` : ""}`,
    "pairs-map",
  );
}

function network(threshold, openPair) {
  const { pairs } = data,
    lines = [];
  const nodes = [];
  for (let i = 0; i < pairs.a.length && lines.length < MOST_LINES; i++) {
    const p = pairs.p_adjusted[i];
    if (!pairs.is_found[i] && (p === null || p > threshold)) continue;
    const fresh = [pairs.a[i], pairs.b[i]].filter(place => !nodes.includes(place));
    if (nodes.length + fresh.length > MOST_NODES) continue;
    nodes.push(...fresh);
    lines.push(i);
  }
  if (!lines.length)
    return el(
      "p",
      { class: "notice" },
      `No pair has an adjusted p up to ${threshold}, and none was detected. Move the threshold to see weaker ones.`,
    );
  const width = isNarrow ? 330 : 560,
    height = nodes.length < 5 ? 320 : 420,
    radius = height / 2 - 46,
    // Names stand beside the nodes.
    reach = isNarrow ? Math.min(radius, width / 2 - 84) : radius,
    x0 = width / 2,
    y0 = height / 2;
  const spot = new Map(
    nodes.map((place, k) => {
      const turn = 2 * Math.PI * (k / nodes.length) - Math.PI / 2 + (nodes.length === 2 ? Math.PI / 2 : 0);
      return [place, { x: x0 + reach * Math.cos(turn), y: y0 + radius * Math.sin(turn), turn }];
    }),
  );
  const svg = canvas(width, height, `Network of ${lines.length} pairs`, "group");
  for (const i of [...lines].reverse()) {
    const from = spot.get(pairs.a[i]),
      to = spot.get(pairs.b[i]);
    const name = `${pairs.names[pairs.a[i]]} × ${pairs.names[pairs.b[i]]}: adjusted p ${pText(pairs.p_adjusted[i])}`;
    const path = `M${from.x},${from.y}Q${((from.x + to.x) / 2) * 0.6 + x0 * 0.4},${((from.y + to.y) / 2) * 0.6 + y0 * 0.4} ${to.x},${to.y}`;
    const act = () => openPair(i);
    svg.append(
      draw(
        "g",
        {
          class: "edge",
          role: "button",
          tabindex: 0,
          "aria-label": name,
          "data-pair": i,
          onclick: act,
          onkeydown: event => {
            if (isPress(event)) {
              event.preventDefault();
              act();
            }
          },
        },
        draw("path", { d: path, stroke: "transparent", "stroke-width": 16, fill: "none" }),
        draw("path", {
          d: path,
          class: pairs.is_found[i] ? "accent-line" : "soft-line",
          "stroke-width": 1 + 4 * strength(pairs.p_adjusted[i]),
          "stroke-opacity": pairs.is_found[i] ? 0.9 : 0.45,
          "stroke-dasharray": pairs.is_found[i] ? null : "5 4",
        }),
        draw("title", {}, name),
      ),
    );
  }
  for (const [place, { x, y, turn }] of spot) {
    svg.append(draw("circle", { cx: x, cy: y, r: 6, class: "accent-fill" }));
    const [aside, above] = [Math.cos(turn), Math.sin(turn)].map(one => Math.round(10 * one) / 10);
    // Straight above or below a node a name has the room of both sides.
    const room = aside ? width / 2 - reach * Math.abs(aside) - 16 : width - 20;
    svg.append(
      label(pairs.names[place], room, {
        x: x + 11 * Math.sign(aside),
        y: y + 4 + (aside ? 8 : 16) * above,
        "text-anchor": aside > 0 ? "start" : aside < 0 ? "end" : "middle",
      }),
    );
  }
  return figure(
    svg,
    "Solid: shown to act together. Dashed: adjusted p up to the threshold, before those found are taken into account.",
    "pairs-network",
  );
}
