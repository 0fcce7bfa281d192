"""Tables from the results: error rates with their binomial band, power, top-1 rate, time."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from scipy import stats

ALPHA = 0.05


def error_band(n_replicates, level=0.95):
    """Largest error rate that a test at .05 shows with probability `level` (two-sided)."""
    return stats.binom.ppf((1 + level) / 2, n_replicates, ALPHA) / n_replicates


def null_table(rows):
    """Family-wise error, share of single p-values below .05 and their uniformity."""
    groups = rows[rows["is_null"] == 1].groupby(["scenario", "n", "p"], sort=False)
    table = groups.agg(
        replicates=("seconds", "size"),
        family_wise_error=("any_rejected", "mean"),
        with_holm=("holm_rejected", "mean"),
        selected_any=("other_selected", lambda count: (count > 0).mean()),
        single_p_below_05=("share_below_05", "mean"),
        seconds=("seconds", "median"),
    )
    table["upper_band"] = [error_band(count) for count in table["replicates"]]
    if rows["p_of_one_pair"].notna().any():
        p = groups["p_of_one_pair"]
        table["ks_p"] = p.apply(lambda x: stats.kstest(x, "uniform").pvalue)
        # One-sided: are there more small p-values than there should be?
        table["ks_p_liberal"] = p.apply(
            lambda x: stats.kstest(x, "uniform", alternative="greater").pvalue
        )
    return table


def alternative_table(rows):
    """Power at family-wise .05, how often the true term is first, and false selections."""
    groups = rows[rows["is_null"] == 0].groupby(["scenario", "n", "p"], sort=False)
    return groups.agg(
        replicates=("seconds", "size"),
        power=("true_rejected", "mean"),
        first=("true_first", "mean"),
        selected_other=("other_selected", lambda count: (count > 0).mean()),
        seconds=("seconds", "median"),
    )


def printed_summary(folder: Path, methods):
    parts = []
    for method in methods:
        path = folder / f"{method}.csv"
        if path.exists():
            rows = pd.read_csv(path)
            for title, table in (("null", null_table), ("alternative", alternative_table)):
                values = table(rows)
                if len(values):
                    parts.append(f"## {method}, {title}\n{values.round(3).to_string()}")
    return "\n\n".join(parts)


if __name__ == "__main__":
    results = Path(__file__).parent / "results"
    print(printed_summary(results, [path.stem for path in sorted(results.glob("*.csv"))]))
