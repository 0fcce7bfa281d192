// What stands where, and what follows a click.
function revealed(box) {
  // On a narrow screen the picture is below what was clicked.
  if (matchMedia("(max-width: 62rem)").matches) box.scrollIntoView({ block: "nearest" });
}
let isReady = false;

function startPairs() {
  const { pairs, test } = data;
  if (!pairs.a.length) return;
  let threshold = alpha,
    view = "table",
    chosen = 0;
  const open = i => {
    chosen = i;
    showPair(i);
    for (const edge of document.querySelectorAll(".edge"))
      edge.classList.toggle("chosen", +edge.dataset.pair === i);
    if (isReady) revealed(byId("pair-picture"));
  };
  const fromPicture = i => {
    table.mark(i);
    open(i);
  };
  const redraw = () => {
    if (view === "map") byId("pair-map").replaceChildren(heatMap(threshold, fromPicture, openFeature));
    if (view === "network") byId("pair-network").replaceChildren(network(threshold, fromPicture));
  };
  const table = makeTable({
    mount: byId("pair-table"),
    tools: byId("pair-tools"),
    file: "pairs",
    words: "pairs",
    n: pairs.a.length,
    caption: test.why_untested
      ? "Pairs by weight"
      : `Pairs by evidence${test.n_listed < test.n_pairs ? `, the ${countText(test.n_listed)} strongest` : ""}`,
    columns: pairColumns(pairs),
    names: i => [pairs.names[pairs.a[i]], pairs.names[pairs.b[i]]],
    found: pairs.is_found,
    p: pairs.p_adjusted,
    mark: i => (pairs.is_found && pairs.is_found[i] ? "act together" : ""),
    open,
    changed: p => {
      threshold = p;
      redraw();
    },
  });
  if (pairs.p) {
    const views = [
      ["table", "Table"],
      ["map", "Map"],
      ["network", "Network"],
    ];
    const tabs = views.map(([name, title]) =>
      el(
        "button",
        {
          type: "button",
          role: "tab",
          id: `tab-${name}`,
          "aria-controls": `pair-${name}`,
          onclick: () => select(name),
        },
        title,
      ),
    );
    const select = name => {
      view = name;
      views.forEach(([other], k) => {
        tabs[k].setAttribute("aria-selected", other === name);
        tabs[k].tabIndex = other === name ? 0 : -1;
        byId(`pair-${other}`).hidden = other !== name;
      });
      redraw();
    };
    byId("pair-views").append(...tabs);
    byId("pair-views").addEventListener("keydown", event => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = (tabs.findIndex(tab => tab.tabIndex === 0) + step + tabs.length) % tabs.length;
      tabs[next].focus();
      select(views[next][0]);
    });
    select("table");
  }
  table.choose(0);
}

let openFeature = () => {};
function startFeatures() {
  const { features } = data;
  if (!features.name.length) return;
  const table = makeTable({
    mount: byId("feature-table"),
    tools: byId("feature-tools"),
    file: "features",
    words: "features",
    n: features.name.length,
    caption: features.p ? "Features by evidence" : "Features by importance",
    columns: featureColumns(features),
    names: i => [features.name[i]],
    found: features.is_found,
    p: features.p_adjusted,
    mark: i => (features.is_found && features.is_found[i] ? "matters" : ""),
    open: i => {
      showFeature(i);
      if (isReady) revealed(byId("feature-picture"));
    },
  });
  openFeature = i => {
    table.mark(i);
    table.choose(i);
    byId("feature-picture").scrollIntoView({ block: "nearest" });
  };
  table.choose(0);
}

function startPredictions() {
  const found = data.performance;
  if (!found) return;
  const cell = (one, text) => ({
    value: one.value,
    text: `${text(one.value)} (${text(one.low)} to ${text(one.high)})`,
  });
  byId("method-table").tabIndex = 0;
  byId("method-table").setAttribute("role", "region");
  byId("method-table").setAttribute("aria-label", "Methods on the same folds");
  byId("method-table").append(
    plainTable(
      "Methods on the same folds, with 95 % intervals over the held-out samples",
      ["method", "AUC", "balanced accuracy", "accuracy"],
      found.methods.map(one => [
        one.name,
        cell(one.auc, x => x.toFixed(3)),
        cell(one.balanced_accuracy, percentText),
        cell(one.accuracy, percentText),
      ]),
      "methods",
    ),
  );
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

function startTheme() {
  const button = byId("theme"),
    root = document.documentElement;
  const isDark = () =>
    (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) ===
    "dark";
  const name = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`);
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    name();
  });
  name();
}

for (const button of document.querySelectorAll("[data-copy]"))
  button.addEventListener("click", () => copied(button.dataset.copy, button));
byId("save-json").addEventListener("click", () =>
  save("report.json", JSON.stringify(data, null, 1), "application/json"),
);
byId("drawn-samples").textContent = [
  samples.rows.length && samples.rows.length < samples.n
    ? `Pictures show ${countText(samples.rows.length)} of ${countText(samples.n)} samples, drawn at random with a fixed seed.`
    : "",
  samples.n_without
    ? `The values of ${countText(samples.n_without)} features with the weakest evidence are not in this file, to keep it small.`
    : "",
].join(" ");
// The tables that are there without a script are saved as they stand.
for (const table of document.querySelectorAll("main table.narrow")) {
  const cells = () => [...table.rows].map(row => [...row.cells].map(cell => cell.textContent));
  table.caption.append(
    " ",
    el(
      "button",
      {
        type: "button",
        class: "quiet",
        onclick: () =>
          save(
            `${table.caption.firstChild.textContent.trim().toLowerCase()}.csv`,
            csvText(cells()),
            "text/csv",
          ),
      },
      "Save as CSV",
    ),
  );
}
startTheme();
startFeatures();
startPairs();
startPredictions();
isReady = true;
