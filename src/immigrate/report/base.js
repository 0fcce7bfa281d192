"use strict";
// What the page says, and small tools: elements, numbers, files.
const data = JSON.parse(document.getElementById("data").textContent);
const classes = data.data.classes.map(one => one.label);
const alpha = data.test.alpha;
const SVG = "http://www.w3.org/2000/svg";

// Names are only ever set as text, so that no name can become markup.
function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter(child => child !== null && child !== undefined));
  return node;
}
const el = (tag, attributes, ...children) => filled(document.createElement(tag), attributes, children);
const draw = (tag, attributes, ...children) =>
  filled(document.createElementNS(SVG, tag), attributes, children);
const byId = id => document.getElementById(id);

// FIRST STRONG ISOLATE ... POP: a name of another script turns nothing around it.
const isolated = name => `\u2068${name}\u2069`;
// Room is measured and not guessed from a count: signs are of very different width.
const pen = document.createElement("canvas").getContext("2d");
function widthOf(text, size = 12) {
  pen.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
}
// The name, with an ellipsis in its middle where it is wider than its room.
function fitted(name, room, size = 12) {
  const signs = Array.from(name);
  const kept = most => {
    const head = Math.ceil(most / 2);
    return `${signs.slice(0, head).join("")}…${signs.slice(signs.length - (most - head)).join("")}`;
  };
  if (widthOf(name, size) <= room) return name;
  let most = signs.length - 1;
  while (most > 1 && widthOf(kept(most), size) > room) most = most > 80 ? 80 : most - 1;
  return kept(most);
}
function nameNode(name) {
  return el("bdi", { title: name }, name);
}
function pairNode(a, b) {
  return el("span", {}, nameNode(a), el("span", { class: "times" }, " × "), nameNode(b));
}
function label(name, room, attributes) {
  const size = attributes["font-size"] || (attributes.class === "soft-text" ? 11 : 12),
    shown = fitted(name, room, size);
  const text = draw("text", attributes, isolated(shown));
  if (shown !== name) text.append(draw("title", {}, name));
  return text;
}

const pText = p =>
  p === null || p === undefined ? "–" : p < 1e-4 ? "<\u00a00.0001" : p > 0.995 ? "1" : p.toPrecision(2);
// As in the answers above: halves to even, and a decimal where 0 or 100 would not be true.
const toEven = x => (Math.abs(x % 1) === 0.5 ? 2 * Math.round(x / 2) : Math.round(x));
function percentText(x) {
  const whole = toEven(100 * x),
    isTrue = (whole !== 0 && whole !== 100) || x === 0 || x === 1;
  // A number and its sign stay on one line.
  return `${isTrue ? whole : (100 * x).toFixed(1)}\u00a0%`;
}
const numberText = x =>
  x === null || x === undefined ? "–" : Math.abs(x) < 5e-4 ? "0" : x.toFixed(3).replace("-", "−");
const short = x => String(+x.toPrecision(3)).replaceAll("-", "−");
const countText = n => n.toLocaleString("en");
// Two decimals, as log-odds need them; two digits of what is smaller or larger.
function sizeText(size, low, high) {
  if (size === null || size === undefined) return "–";
  const isPlain = high === null || (high >= 0.1 && high < 1000) || !(size || low || high);
  const text = x => (isPlain ? x.toFixed(2) : String(+x.toPrecision(2)));
  return text(size) + (low === null ? "" : ` (${text(low)} to ${text(high)})`);
}
// The size inside a sentence; nothing where there is none, because the classes are separated.
const sizeClause = (table, i) =>
  table.size[i] === null ? "" : `, size ${sizeText(table.size[i], table.low[i], table.high[i])}`;
// A label begins as the user wrote it: "a" and "A" may be two classes.
const sentence = words => (words ? `${words.replace(/^class /, "Class ")}.` : "");

function say(text) {
  byId("live").textContent = text;
}

// Scales: from values to places in a picture.
function linear(low, high, from, to) {
  const span = high - low || 1;
  return x => from + ((x - low) / span) * (to - from);
}
function ticksBetween(low, high, wanted) {
  if (!(high > low)) return [low];
  const raw = (high - low) / wanted,
    size = 10 ** Math.floor(Math.log10(raw));
  const step = size * [1, 2, 5, 10].find(one => one * size >= raw);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) found.push(k * step);
  return found;
}
function logTicks(low, high) {
  const found = [];
  for (let k = Math.floor(Math.log10(low)); k <= Math.ceil(Math.log10(high)); k++)
    for (const one of high / low > 300 ? [1] : [1, 2, 5]) {
      const x = +`${one}e${k}`;
      if (x >= low && x <= high) found.push(x);
    }
  return found;
}

// Files.
function save(name, content, type) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = el("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
  say(`${name} is saved`);
}
// A name such as =HYPERLINK(...) must not run as a formula in a spreadsheet.
function csvCell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = String(value);
  const safe = /^\s*[=+\-@]/.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}
const csvText = rows => rows.map(row => row.map(csvCell).join(",")).join("\n") + "\n";

const PAINT = [
  "fill",
  "stroke",
  "stroke-width",
  "opacity",
  "fill-opacity",
  "stroke-opacity",
  "stroke-dasharray",
  "font-size",
  "font-family",
  "font-weight",
  "text-anchor",
];
function standalone(svg) {
  // Colours come from the style of the page, which a file of its own does not have.
  const copy = svg.cloneNode(true),
    [, , width, height] = svg.getAttribute("viewBox").split(" ");
  const from = [svg, ...svg.querySelectorAll("*")],
    to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((node, i) => {
    const style = getComputedStyle(node);
    for (const name of PAINT)
      if (style.getPropertyValue(name)) to[i].setAttribute(name, style.getPropertyValue(name));
    for (const name of ["class", "tabindex", "role", "style"]) to[i].removeAttribute(name);
  });
  const ground = getComputedStyle(byId("pairs")).backgroundColor;
  copy.prepend(draw("rect", { width, height, fill: ground }));
  copy.setAttribute("xmlns", SVG);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  return { text: new XMLSerializer().serializeToString(copy), width: +width, height: +height };
}
function savePicture(svg, name, kind) {
  const { text, width, height } = standalone(svg);
  if (kind === "svg") return save(`${name}.svg`, text, "image/svg+xml");
  const image = new Image();
  image.onload = () => {
    const canvas = el("canvas", { width: 2 * width, height: 2 * height });
    canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * height);
    canvas.toBlob(blob => save(`${name}.png`, blob));
  };
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
}
function figure(svg, caption, file) {
  const button = kind =>
    el(
      "button",
      {
        type: "button",
        class: "quiet",
        "aria-label": `Save as ${kind.toUpperCase()}: ${caption}`,
        onclick: () => savePicture(svg, file, kind),
      },
      kind.toUpperCase(),
    );
  return el(
    "figure",
    {},
    svg,
    el("figcaption", {}, el("span", {}, caption), el("span", {}, button("svg"), " ", button("png"))),
  );
}
function canvas(width, height, title, role = "img") {
  return draw("svg", { viewBox: `0 0 ${width} ${height}`, role, "aria-label": title });
}
async function copied(id, button) {
  const text = byId(id).innerText;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el("textarea", {}, text);
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  button.textContent = "Copied";
  say("Copied");
  setTimeout(() => {
    button.textContent = "Copy";
  }, 1500);
}
