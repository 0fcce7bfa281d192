// The page as data, and how much of the table it carries.
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
