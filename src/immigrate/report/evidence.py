"""What the test says of features and pairs, with the weights of the model and their samples."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from immigrate.arrays import Codes
from immigrate.estimators import InteractionTest
from immigrate.interactions.adjustments import adjustment_of
from immigrate.interactions.pair_effect import pair_effect
from immigrate.interactions.words import of_level
from immigrate.report.input import Context, Thirds
from immigrate.table import Table

SECTIONS = {"pairs": "Pairs", "features": "Features"}
# Pairs that the page lists; a table of 200 features has as many.
MOST_LISTED = 20_000
# Pairs whose joint effect is drawn as a surface: those found and then the next by evidence.
MOST_SURFACES, MOST_SURFACE_VALUES = 12, 40_000
# If even the smallest p is above, and the additive model explains more of the held-out deviance
# than the second, there is nothing left to test.
NOTHING_LEFT, NEARLY_ALL = 0.99, 0.9
SEPARATED = (
    "The features' own effects tell the classes apart so well that nothing is left for a pair to "
    "explain."
)
# More points than this hide each other; more values make the page too large to send.
MOST_ROWS, MOST_VALUES = 1_000, 150_000
# Numbers with more different values are drawn on a scale.
MOST_LEVELS = 12
SEED = 0

# Names of columns on the page, and in the tables of the test.
EVIDENCE = {
    "p": "p_value",
    "p_adjusted": "p_adjusted",
    "size": "size",
    "low": "size_low",
    "high": "size_high",
    "direction": "direction",
    "given": "p_given_others",
    "given_adjusted": "p_given_others_adjusted",
    "in_pair": "in_pair",
    "is_exact": "is_exact",
    "is_found": "is_found",
}
REPEATS = (
    "Some groups have more than one sample, and the test takes samples to be independent. "
    "Give one sample of each, or their mean."
)


def summary(context: Context) -> dict[str, Any]:
    """The answer of the test, every feature, every pair, and what their pictures show."""
    test, model, table = context.test, context.model, context.table
    names = np.array([str(name) for name in table.reader.names], dtype=object)
    is_used = model.column_reader_.is_used
    is_kept, importance = model.get_support()[is_used], model.feature_importances_[is_used]
    # What did not pass a screen is in the last row and column, and has no weight.
    W, row = np.pad(model.weight_matrix_, (0, 1)), np.where(is_kept, np.cumsum(is_kept) - 1, -1)
    if test is None:
        # Samples of one group are not independent.
        answer = {"why_untested": REPEATS, "why_no_pairs": "", "found": [], "shown": []}
        # Features that are equal but for rounding stay in the order of the table.
        order = np.argsort(-importance.round(9), kind="stable")
        features = pd.DataFrame({"feature": names[order[is_kept[order]]]})
        weights = model.interactions()
        pairs = weights[weights["kind"] == "pair"]
    else:
        answer, features, pairs = tested(test)
    pairs = pairs.head(MOST_LISTED)
    place = {name: i for i, name in enumerate(names)}
    i, a, b = (
        column.astype(str).map(place).to_numpy(dtype=np.intp)
        for column in (features["feature"], pairs["feature_1"], pairs["feature_2"])
    )
    given = {"alpha": context.unfitted_test.alpha, "settings": repr(context.unfitted_test)}
    weight = {"weight": W[row[i], row[i]], "importance": importance[i]}
    ends = {"names": names, "a": a, "b": b}
    return {
        "test": answer | given,
        "features": {"name": names[i], **evidence_columns(features), **weight},
        "pairs": {**ends, **evidence_columns(pairs), "weight": W[row[a], row[b]]},
        "samples": drawn_samples(table, np.ravel([a, b], "F").tolist()),
        "surfaces": surfaces(test, a, b) if test is not None and test.n_tests_ else [],
    }


def evidence_columns(table: pd.DataFrame) -> dict[str, Any]:
    """What a table of features or pairs holds of `EVIDENCE`; nothing, where there is no test."""
    return {name: table[column] for name, column in EVIDENCE.items() if column in table}


def tested(test: InteractionTest) -> tuple[dict[str, Any], pd.DataFrame, pd.DataFrame]:
    """The answer in words and in rows, and the tables of features and of pairs."""
    pairs, alpha = test.table_, test.alpha
    features = test.features_.assign(is_found=test.features_["p_adjusted"] <= alpha)
    is_separated = bool(
        len(pairs)
        and test.additive_model_.deviance_explained > NEARLY_ALL
        and not (pairs["p_value"] <= NOTHING_LEFT).any()
    )
    why_no_pairs = ""
    if not test.n_tests_:
        notes = " ".join(f"{note}." for note in test.notes_)
        no_pairs = "There is one feature that varies, and so no pair."
        if not len(features):
            no_pairs = "No feature varies, and so there is no pair."
        why_no_pairs = SEPARATED if is_separated else notes if len(pairs) else no_pairs
    answer = {
        "why_untested": "",
        "why_no_pairs": why_no_pairs,
        "methods": test.summary("methods"),
        "error": of_level(adjustment_of(test._fitted_as["adjust"]), alpha),
        "shown": features[features["is_found"]].drop(columns="is_found").to_dict("records"),
        "n_features": len(features),
        "n_pairs": test.n_tests_,
        "notes": test.notes_,
        "n_listed": min(len(pairs), MOST_LISTED),
        "found": test.selected_.to_dict("records"),
        # Small in the first round, but not found: these may only mirror a pair that was.
        "n_mirrors": ((pairs["p_adjusted"] <= alpha) & ~pairs["is_found"]).sum(),
        "n_exact": pairs["is_exact"].sum(),
        "least_p": pairs["p_adjusted"].min(),
        "detectable_size": test.detectable_size_,
        "is_separated": is_separated,
    }
    if is_separated:
        # The more separated the classes the larger the log-odds, without limit: what a ridge
        # leaves of them has a size and an interval that depend on the ridge alone.
        unknown = dict.fromkeys(("size", "size_low", "size_high"), np.nan)
        features, pairs = features.assign(**unknown), pairs.assign(**unknown)
    return answer, features, pairs


def surfaces(test: InteractionTest, first: Codes, second: Codes) -> list[dict[str, Any]]:
    """Joint effects on a grid or by levels, of as many pairs as have room."""
    rows: list[dict[str, Any]] = []
    n_values, design = 0, None
    for a, b in zip(first[:MOST_SURFACES].tolist(), second[:MOST_SURFACES].tolist()):
        effects = test._effect_source.measured([(a, b)], design)
        # The samples are the same for every pair, and so is what is made of their columns.
        design = effects.model.design
        # Nothing of the pair may be left beside those found.
        if effects.place((a, b)) is None:
            continue
        effect = pair_effect(effects, (a, b))
        n_values += effect.value.size
        # The first one always has room, however many classes it has.
        if rows and n_values > MOST_SURFACE_VALUES:
            break
        x, y = ({"has_levels": one.has_levels, "values": one.values} for one in effect.axes)
        # Not the ends themselves: the page only shades, and its size is limited.
        is_sure = ((effect.low > 0) | (effect.high < 0)).astype(int)
        drawn = {"value": effect.value, "is_sure": is_sure, "counts": effect.counts}
        rows.append({"a": a, "b": b, "x": x, "y": y, "classes": effect.classes, **drawn})
    return rows


def drawn_samples(table: Table, strongest: Iterable[int]) -> dict[str, Any]:
    """Values and classes of samples, in as many columns as the size of the page allows.

    `strongest` are features in order of interest.
    """
    (n, p), codes, numbers = table.values.shape, table.outcome.codes, table.outcome.numbers
    rows = np.arange(n)
    if n > MOST_ROWS:
        rows = np.sort(np.random.default_rng(SEED).choice(n, MOST_ROWS, replace=False))
    # Two features at least, so that there is a pair to draw.
    order = list(dict.fromkeys([*strongest, *range(p)]))[: max(2, MOST_VALUES // len(rows))]
    return {
        "n": n,
        "rows": rows,
        # Of a number the third that it is in, which has the colour.
        "codes": (codes if numbers is None else Thirds.of(numbers).codes)[rows],
        "numbers": None if numbers is None else numbers[rows],
        "columns": {str(j): drawn_column(table, j, rows) for j in sorted(order)},
        "n_without": p - len(order),
    }


def drawn_column(table: Table, j: int, rows: Codes) -> dict[str, Any]:
    """One feature: numbers, or places among levels; None where it is missing."""
    x = table.values[:, j].astype(np.float64)
    used, drawn = np.unique(x[~np.isnan(x)]), x[rows]
    if not table.reader.is_nominal[j] and len(used) > MOST_LEVELS:
        return {"levels": None, "values": drawn}
    kind = table.reader.kinds[j]
    return {
        "levels": [kind.text(u) for u in used],
        "values": [
            None if np.isnan(v) else k for v, k in zip(drawn, np.searchsorted(used, drawn))
        ],
    }
