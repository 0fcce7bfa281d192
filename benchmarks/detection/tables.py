"""Write the tables of docs/measurements/detection.md from the tracked results.

    python benchmarks/detection/tables.py

A table stands between ``<!-- table: NAME -->`` and ``<!-- end -->``; the rest of the page is
left alone.
"""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parents[2] / "docs" / "measurements" / "detection.md"
# Power first reported for the recipe that the test grew from (methods/prototype.py).
FIRST_REPORTED = {
    "xor": 0.96, "xor_main_effects": 0.86, "both_high": 0.82, "either_high": 0.84,
    "threshold": 0.94, "snp_xor": 0.90, "absolute_xor": 1.0, "product": 0.78,
    "class_correlation": 0.64, "ratio": 0.14,
}  # fmt: skip
# Wider tables list their strongest pairs only.
LISTED_PAIRS = 100_000
RANKINGS = {
    "xgboost-shap": "XGBoost SHAP",
    "forest-shap": "forest SHAP",
    "immigrate-weights": "IMMIGRATE weights",
    "logistic-products": "product terms",
}


def results(method):
    return pd.read_csv(RESULTS / f"{method}.csv")


def is_main_size(rows):
    return (rows["n"] == 400) & (rows["p"] == 15)


def by_scenario(rows):
    return rows.groupby("scenario", sort=False)


def as_rate(value, digits=3):
    """Like .050 and 1.00; empty where there is none."""
    if pd.isna(value):
        return ""
    return f"{value:.{digits}f}".lstrip("0") if value < 1 else f"{value:.{digits - 1}f}"


def in_words(scenario):
    return scenario.replace("_", " ")


def markdown(columns, rows):
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def null_table():
    columns = ["scenario", "error, Holm", "error, Westfall–Young", "single p ≤ .05"]
    rows = results("westfall-young")
    rows = rows[rows["is_null"] == 1]
    return markdown(columns, [
        (
            in_words(scenario),
            as_rate(group["holm_rejected"].mean()),
            as_rate(group["any_rejected"].mean()),
            as_rate(group["share_below_05"].mean()),
        )
        for scenario, group in by_scenario(rows)
    ])  # fmt: skip


def size_table():
    """Null scenarios at other sizes, all of them together and the worst one."""
    columns = [
        "n × p", "scenarios", "data sets", "family-wise error", "worst scenario",
        "single p ≤ .05", "seconds",
    ]  # fmt: skip
    rows = results("holm")
    rows = rows[(rows["is_null"] == 1) & ~is_main_size(rows)]
    return markdown(
        columns, [_size_row(n, p, group) for (n, p), group in rows.groupby(["n", "p"])]
    )


def _size_row(n, p, group):
    is_whole_table = p * (p - 1) // 2 <= LISTED_PAIRS
    errors = by_scenario(group)["any_rejected"].mean()
    worst = errors.idxmax()
    n_worst = int((group["scenario"] == worst).sum())
    return (
        f"{n:,} × {p:,}",
        len(errors),
        len(group),
        as_rate(group["any_rejected"].mean()),
        f"{in_words(worst)} {as_rate(errors.max(), 2)} ({n_worst} data sets)",
        as_rate(group["share_below_05"].mean() if is_whole_table else None),
        f"{group['seconds'].median():.2g}",
    )


def alternative_table():
    columns = [
        "scenario", "power first reported", "power, recipe", "power, here", "pair first, recipe",
        "pair first, here", "any other pair selected",
    ]  # fmt: skip
    rows = results("holm")
    recipe = by_scenario(results("prototype"))[["true_rejected", "true_first"]].mean()
    lines = []
    for scenario, group in by_scenario(rows[(rows["is_null"] == 0) & is_main_size(rows)]):
        before = recipe.loc[scenario] if scenario in recipe.index else {}
        rates = [
            before.get("true_rejected"),
            group["true_rejected"].mean(),
            before.get("true_first"),
            group["true_first"].mean(),
            (group["other_selected"] > 0).mean(),
        ]
        reported = as_rate(FIRST_REPORTED.get(scenario), 2)
        lines.append((in_words(scenario), reported, *map(as_rate, rates)))
    return markdown(columns, lines)


def power_by_size_table():
    """Power and top-1 rate of the test, one column a size."""
    rows = results("holm")
    rows = rows[rows["is_null"] == 0]
    many = rows.groupby("scenario")[["n", "p"]].apply(lambda size: len(size.drop_duplicates()) > 1)
    rows = rows[rows["scenario"].isin(many.index[many])]
    sizes = sorted(set(zip(rows["n"], rows["p"], strict=True)))
    lines = []
    for scenario, group in by_scenario(rows):
        line = [in_words(scenario)]
        for n, p in sizes:
            at_size = group[(group["n"] == n) & (group["p"] == p)]
            power, first = at_size["true_rejected"].mean(), at_size["true_first"].mean()
            line.append(f"{as_rate(power, 2)} / {as_rate(first, 2)}" if len(at_size) else "")
        lines.append(line)
    return markdown(["scenario", *(f"{n:,} × {p:,}" for n, p in sizes)], lines)


def comparison_table():
    """Test and FAST on the same data sets, and what either says of the additive twins."""
    here = results("holm")
    here = here[is_main_size(here)]
    fast, cleared = results("ebm-fast"), results("ebm-fast-cleared")
    columns = [
        "scenario", "error in the twin, here", "power, here", "power, FAST", "power, FAST cleared",
        "first, here", "first, FAST", "first, FAST cleared", "first in the twin, here",
        "first in the twin, FAST", "first in the twin, FAST cleared",
    ]  # fmt: skip
    lines = []
    for scenario in by_scenario(fast[fast["is_null"] == 0]).groups:
        of_scenario, of_twin = (
            [rows[rows["scenario"] == name] for rows in (here, fast, cleared)]
            for name in (scenario, f"{scenario}_twin")
        )
        rates = [
            of_twin[0]["any_rejected"].mean(),
            of_scenario[0]["true_rejected"].mean(),
            *(calibrated_power(*rows) for rows in zip(of_scenario[1:], of_twin[1:])),
            *(rows["true_first"].mean() for rows in of_scenario),
            *(rows["lookalike_first"].mean() for rows in of_twin),
        ]
        lines.append((in_words(scenario), *map(as_rate, rates)))
    return markdown(columns, lines)


def calibrated_power(rows, twins):
    """How often the true pair is stronger than the strongest pair of nearly all twins."""
    return (rows["true_strength"] > critical_strength(twins)).mean()


def critical_strength(twins):
    """What the strongest pair of a twin exceeds in at most a twentieth of the data sets."""
    return twins["largest_strength"].quantile(0.95, interpolation="higher")


def ranking_table():
    """How often other rankings put the true pair first, on the data sets that they saw."""
    first = {name: by_scenario(results(method))["true_first"] for method, name in RANKINGS.items()}
    here = results("holm")
    n_seen = min(groups.size().min() for groups in first.values())
    seen = here[is_main_size(here) & (here["is_null"] == 0) & (here["replicate"] < n_seen)]
    rates = pd.DataFrame({"here": by_scenario(seen)["true_first"].mean()})
    rates = rates.join(
        pd.DataFrame({name: groups.mean() for name, groups in first.items()}), how="inner"
    )
    return markdown(
        ["scenario", *(f"first, {name}" for name in rates)],
        [
            (in_words(scenario), *(as_rate(rate, 2) for rate in row))
            for scenario, row in zip(rates.index, rates.to_numpy())
        ],
    )


def product_term_errors():
    rows = results("logistic-products")
    columns = ["scenario", "data sets", "error, product terms"]
    return markdown(columns, [
        (in_words(scenario), len(group), as_rate(group["any_rejected"].mean(), 2))
        for scenario, group in by_scenario(rows[rows["is_null"] == 1])
    ])  # fmt: skip


def _evidence(study):
    """Means of a study, one row per scenario, and how many replicates each has."""
    rows = results("evidence").query("study == @study")
    wide = rows.pivot(index="scenario", columns="measure", values="mean")
    wide["replicates"] = rows.groupby("scenario")["replicates"].max()
    return wide.loc[rows["scenario"].drop_duplicates()]


def _evidence_table(study, columns):
    """Chosen measures of a study; `columns` are headings and measures."""
    rows = _evidence(study)
    return markdown(["scenario", "data sets", *columns], [
        (in_words(scenario), int(row["replicates"]), *(as_rate(row[m]) for m in columns.values()))
        for scenario, row in rows.iterrows()
    ])  # fmt: skip


def feature_error_table():
    return _evidence_table("features", {
        "error, on its own": "error alone",
        "error, given the others": "error given others",
        "single p ≤ .05, on its own": "single alone",
        "single p ≤ .05, given the others": "single given others",
    })  # fmt: skip


def pair_error_table():
    return _evidence_table("pairs", {"error": "error", "single p ≤ .05": "single"})


def effect_size_table():
    """Planted and measured sizes, with effects from other samples and from the same."""
    split, same = _evidence("sizes split"), _evidence("sizes")
    return markdown(
        ["scenario", "planted", "data sets", "mean, split", "covered, split",
         "mean, same samples", "covered, same samples", "mean if found, same samples"],
        [
            (in_words(name), as_rate(row["true size"], 2), int(row["replicates"]),
             as_rate(row["size"], 2), as_rate(row["covered"]), as_rate(same.loc[name, "size"], 2),
             as_rate(same.loc[name, "covered"]), as_rate(same.loc[name, "size if found"], 2))
            for name, row in split.iterrows()
        ],
    )  # fmt: skip


def number_power_table():
    rows, others = _evidence("power"), _evidence("rivals")
    measures = ("power, products", "first, products", "first, FAST")
    return markdown(
        ["scenario", "data sets", "power", "pair first", "power, products", "first, products",
         "first, FAST"],
        [
            (in_words(name), int(row["replicates"]), as_rate(row["power"]), as_rate(row["first"]),
             *(as_rate(others[m].get(name)) for m in measures))
            for name, row in rows.iterrows()
        ],
    )  # fmt: skip


TABLES = {
    "feature errors": feature_error_table,
    "pair errors": pair_error_table,
    "effect sizes": effect_size_table,
    "number power": number_power_table,
    "null": null_table,
    "sizes": size_table,
    "alternative": alternative_table,
    "power by size": power_by_size_table,
    "comparison": comparison_table,
    "rankings": ranking_table,
    "product terms": product_term_errors,
}


def filled(page, tables=TABLES):
    """The page with every table made anew."""

    def remade(match):
        return f"{match[1]}\n{tables[match[2]]()}\n{match[3]}"

    return re.sub(r"(<!-- table: (.+?) -->)\n.*?(<!-- end -->)", remade, page, flags=re.DOTALL)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text()))
