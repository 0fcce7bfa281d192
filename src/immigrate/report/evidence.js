// The tables and pictures of pairs and features, and what follows a click.
function revealed(box) {
  // On a narrow screen the picture is below what was clicked.
  if (matchMedia("(max-width: 62rem)").matches) box.scrollIntoView({ block: "nearest" });
}
let isReady = false;

function startPairs() {
  const { pairs, test } = data;
  if (!pairs.a.length) return;
  let threshold = alpha,
    view = "table";
  const open = i => {
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
    mark: i => (pairs.is_found && pairs.is_found[i] ? "act together" : isMirror(pairs, i) ? MIRROR : ""),
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
  // Those found stand first. An arbitrary pair has no picture until somebody asks for it.
  if (pairs.is_found && pairs.is_found[0]) table.choose(0);
  else byId("pair-picture").append(el("p", { class: "soft" }, "No pair is chosen."));
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
  if (features.is_found && features.is_found[0]) table.choose(0);
  else byId("feature-picture").append(el("p", { class: "soft" }, "No feature is chosen."));
}

startFeatures();
startPairs();
isReady = true;
