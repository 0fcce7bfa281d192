// Tables that are searched, sorted and filtered; only one page of rows is ever in the document.
// Where a row takes many lines, the picture below must stay near.
const isNarrow = matchMedia("(max-width: 40rem)").matches;
const PAGE = isNarrow ? 6 : 20;
// Stops of the slider: adjusted p-values.
const STOPS = [
  ...new Set([1e-6, 1e-5, 1e-4, 1e-3, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1, alpha]),
].sort((a, b) => a - b);

// columns: { title, kind: "name" | "number" | "text", value(i), show(i), up (first sort upwards) }
function makeTable({ mount, tools, caption, file, n, columns, names, found, p, mark, open, changed, words }) {
  const state = {
    text: "",
    filter: "all",
    threshold: STOPS.indexOf(alpha),
    sort: null,
    page: 0,
    chosen: null,
    rows: [],
  };
  const parts = controls();
  const head = el("tr", {}, columns.map(headCell));
  const body = el("tbody"),
    count = el("span"),
    pages = el("div", { class: "pages" });
  const table = el("table", { class: "evidence" }, el("caption", {}, caption), el("thead", {}, head), body);
  mount.append(table, pages);
  update();

  function controls() {
    const id = file;
    const search = el("input", {
      type: "search",
      id: `${id}-search`,
      oninput: () => {
        state.text = search.value.trim().toLowerCase();
        state.page = 0;
        update();
      },
    });
    const options = found
      ? [
          ["all", `all ${words}`],
          ["found", "shown only"],
          ["up to", "adjusted p up to the threshold"],
        ]
      : [["all", `all ${words}`]];
    const filter = el(
      "select",
      {
        id: `${id}-filter`,
        onchange: () => {
          state.filter = filter.value;
          state.page = 0;
          update();
        },
      },
      options.map(([value, text]) => el("option", { value }, text)),
    );
    const said = el("output", { for: `${id}-threshold` }, String(alpha));
    const slider = el("input", {
      type: "range",
      id: `${id}-threshold`,
      min: 0,
      max: STOPS.length - 1,
      step: 1,
      value: state.threshold,
      "aria-valuetext": String(alpha),
      oninput: () => {
        state.threshold = +slider.value;
        slider.setAttribute("aria-valuetext", String(STOPS[state.threshold]));
        said.textContent = String(STOPS[state.threshold]);
        state.filter = filter.value = "up to";
        state.page = 0;
        update();
      },
    });
    tools.append(
      el(
        "div",
        { class: "tools", role: "group", "aria-label": `Search and filter: ${words}` },
        el("label", { for: `${id}-search` }, "Search", search),
        found ? el("label", { for: `${id}-filter` }, "Show", filter) : null,
        found ? el("label", { for: `${id}-threshold` }, "Adjusted\u00a0p\u00a0≤", slider, said) : null,
        el("button", { type: "button", class: "quiet", onclick: saveCsv }, "Save as CSV"),
      ),
    );
    return { search, filter, slider };
  }

  // A head may take two lines, with the interval on the second.
  function kept({ title }) {
    return title.replace(/(adjusted|given) /, "$1\u00a0").replace(/\(.*\)/, all => all.replaceAll(" ", "\u00a0"));
  }
  function headCell(column) {
    const cell = el("th", { scope: "col", class: column.kind === "number" ? "n" : null });
    cell.append(
      el("button", { type: "button", title: column.hint, onclick: () => sortBy(column, cell) }, kept(column)),
    );
    return cell;
  }
  function sortBy(column, cell) {
    const was = state.sort && state.sort.column === column ? state.sort.up : null;
    const up = was === null ? column.kind !== "number" || !!column.up : !was;
    state.sort = { column, up };
    for (const other of head.children) other.removeAttribute("aria-sort");
    cell.setAttribute("aria-sort", up ? "ascending" : "descending");
    state.page = 0;
    update();
    say(`Sorted by ${column.title}, ${up ? "ascending" : "descending"}`);
  }

  function isIn(i) {
    if (state.filter === "found" && !found[i]) return false;
    if (state.filter === "up to" && !(p[i] !== null && p[i] <= STOPS[state.threshold])) return false;
    return !state.text || names(i).some(name => name.toLowerCase().includes(state.text));
  }
  function update() {
    const rows = [];
    for (let i = 0; i < n; i++) if (isIn(i)) rows.push(i);
    if (state.sort) {
      const { column, up } = state.sort,
        sign = up ? 1 : -1;
      const keys = new Map(rows.map(i => [i, column.value(i)]));
      // What has no value comes last either way; equal ones stay by evidence.
      rows.sort((i, j) => {
        const u = keys.get(i),
          v = keys.get(j);
        if (u === null || v === null) return (u === null) - (v === null) || i - j;
        return sign * (typeof u === "string" ? u.localeCompare(v) : u - v) || i - j;
      });
    }
    state.rows = rows;
    show();
    if (changed) changed(STOPS[state.threshold]);
  }
  function show() {
    const last = Math.max(0, Math.ceil(state.rows.length / PAGE) - 1);
    state.page = Math.min(state.page, last);
    const from = state.page * PAGE,
      shown = state.rows.slice(from, from + PAGE);
    body.replaceChildren(...shown.map(rowOf));
    if (!shown.length) body.append(el("tr", {}, el("td", { colspan: columns.length }, emptyText())));
    const ends = shown.length > 1 ? `${from + 1}–${from + shown.length}` : from + 1;
    count.textContent = shown.length ? `${ends} of ${countText(state.rows.length)}` : "";
    const turn = (by, text) =>
      el(
        "button",
        {
          type: "button",
          disabled: state.page + by < 0 || state.page + by > last,
          onclick: () => {
            state.page += by;
            show();
            say(count.textContent);
          },
        },
        text,
      );
    pages.replaceChildren(...(last ? [turn(-1, "Previous"), turn(1, "Next")] : []), count);
  }
  function emptyText() {
    if (state.text) return `No name holds “${parts.search.value}”.`;
    return state.filter === "found" ? "None detected." : "None is below the threshold.";
  }
  function rowOf(i) {
    const row = el("tr", {
      class: [open ? "opens" : "", found && found[i] ? "found" : "", i === state.chosen ? "chosen" : ""]
        .join(" ")
        .trim(),
      onclick: open ? () => choose(i) : null,
      "data-row": i,
    });
    columns.forEach(column => {
      const shown = column.show(i);
      if (column.kind === "name")
        row.append(
          el(
            "th",
            { scope: "row" },
            open
              ? el(
                  "button",
                  { type: "button", class: "open", "aria-label": `Show ${names(i).join(" × ")}` },
                  shown,
                )
              : shown,
            mark && mark(i) ? [" ", el("span", { class: "badge" }, mark(i))] : [],
          ),
        );
      else
        row.append(
          el("td", { class: column.kind === "number" ? "n" : null, "data-label": column.title }, shown),
        );
    });
    return row;
  }
  function choose(i) {
    state.chosen = i;
    for (const row of body.rows) row.classList.toggle("chosen", row.dataset.row === String(i));
    open(i);
  }
  function saveCsv() {
    save(
      `${file}.csv`,
      csvText([
        columns.flatMap(column => column.heads || [column.title]),
        ...state.rows.map(i =>
          columns.flatMap(column => (column.cells ? column.cells(i) : [column.value(i)])),
        ),
      ]),
      "text/csv",
    );
  }
  return {
    choose,
    state,
    mark: i => {
      state.chosen = i;
      show();
    },
  };
}

function sizeColumn(table) {
  return {
    title: "size (95 % interval)",
    kind: "number",
    hint: "Spread of what the effect adds to the log-odds",
    value: i => table.size[i],
    show: i => sizeText(table.size[i], table.low[i], table.high[i]),
    heads: ["size", "size_low", "size_high"],
    cells: i => [table.size[i], table.low[i], table.high[i]],
  };
}
const pColumn = (title, values, hint) => ({
  title,
  kind: "number",
  up: true,
  hint,
  value: i => values[i],
  show: i => pText(values[i]),
});
const weightColumn = values => ({
  title: "weight",
  kind: "number",
  hint: "What the model uses; no evidence",
  value: i => values[i],
  show: i => numberText(values[i]),
});

function pairColumns(pairs) {
  const name = {
    title: "pair",
    kind: "name",
    value: i => `${pairs.names[pairs.a[i]]} × ${pairs.names[pairs.b[i]]}`,
    show: i => pairNode(pairs.names[pairs.a[i]], pairs.names[pairs.b[i]]),
    heads: ["feature_1", "feature_2"],
    cells: i => [pairs.names[pairs.a[i]], pairs.names[pairs.b[i]]],
  };
  if (!pairs.p) return [name, weightColumn(pairs.weight)];
  return [
    name,
    pColumn("adjusted p", pairs.p_adjusted, "Adjusted for the number of pairs"),
    pColumn("p", pairs.p, "Of the single test"),
    sizeColumn(pairs),
    weightColumn(pairs.weight),
  ];
}
function featureColumns(features) {
  const name = {
    title: "feature",
    kind: "name",
    value: i => features.name[i],
    show: i => nameNode(features.name[i]),
  };
  const weights = [
    weightColumn(features.weight),
    {
      title: "importance",
      kind: "number",
      hint: "Share of all weights",
      value: i => features.importance[i],
      show: i => percentText(features.importance[i]),
    },
  ];
  if (!features.p) return [name, ...weights];
  return [
    name,
    pColumn("adjusted p", features.p_adjusted, "On its own, adjusted for the number of features"),
    pColumn("given the others", features.given_adjusted, "Adjusted p of what it adds to all others"),
    sizeColumn(features),
    ...weights,
  ];
}

// A small table that needs no tools.
function plainTable(caption, heads, rows, file) {
  const table = el(
    "table",
    { class: "narrow evidence" },
    el(
      "caption",
      {},
      caption,
      " ",
      el(
        "button",
        {
          type: "button",
          class: "quiet",
          onclick: () =>
            save(
              `${file}.csv`,
              csvText([heads, ...rows.map(row => row.map(cell => cell.value ?? cell))]),
              "text/csv",
            ),
        },
        "Save as CSV",
      ),
    ),
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        heads.map((head, k) => el("th", { scope: "col", class: k ? "n" : null }, head)),
      ),
    ),
    el(
      "tbody",
      {},
      rows.map(row =>
        el(
          "tr",
          {},
          row.map((cell, k) =>
            k
              ? el("td", { class: "n", "data-label": heads[k] }, cell.text ?? String(cell))
              : el("th", { scope: "row" }, nameNode(String(cell.text ?? cell))),
          ),
        ),
      ),
    ),
  );
  return table;
}
