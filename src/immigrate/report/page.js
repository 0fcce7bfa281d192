// The whole page: its colours, what can be copied, and tables that stand without a script.
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
startTheme();

for (const button of document.querySelectorAll("[data-copy]"))
  button.addEventListener("click", () => copied(button.dataset.copy, button));
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
