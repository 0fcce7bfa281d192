"""What a test found: how large effects are and which way they go, as tables.

The test knows features by their place in a design; here they are columns of the user's table, and
have names. Effects of what was found are measured by one model that holds all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from immigrate.additive.cleared import EstimatedContrast
from immigrate.additive.design import Design, table_design, term_squares
from immigrate.additive.effects import EffectModel, Term, effect_model
from immigrate.additive.levels import Levels
from immigrate.additive.moments import Contrast
from immigrate.additive.null_model import AdditiveModel, NullModel, fitted_on
from immigrate.additive.sizes import Sizes
from immigrate.arrays import Array, Mask
from immigrate.interactions.features import FeatureEvidence
from immigrate.interactions.question import ORDER_NAMES
from immigrate.interactions.search import (
    MOST_FOUND,
    MOST_FOUND_COLUMNS_PER_SAMPLE,
    MOST_LISTED,
    Round,
    Search,
    TermEvidence,
)
from immigrate.interactions.words import (
    Side,
    cannot_be_tested,
    feature_direction,
    outcome_words,
    pair_direction,
)
from immigrate.table import Table

SIZES = ("size", "size_low", "size_high")
POWER = 0.8
N_FORMS = 4
# Where variances are estimated they are enlarged, and forms that rest on few samples are left out.
# With this factor the power at the size that is named came out near .8
# (``benchmarks/detection/detectable.py``).
ESTIMATED_VARIANCE = 1.18


@dataclass(frozen=True, eq=False)
class Findings:
    """What the test says: the fitted attributes of `InteractionTest` of the same names.

    Attributes
    ----------
    table, selected, features : DataFrame
    additive_model : AdditiveModel
    n_tests : int
    detectable_size : float
    effects : EffectSource
        What further effects are measured with.
    parameters : dict
        Those of `InteractionTest` with which it was fitted.
    notes : list of str
        Sentences on what was not tested, or not taken as it was given.
    """

    table: pd.DataFrame
    selected: pd.DataFrame
    features: pd.DataFrame
    additive_model: AdditiveModel
    n_tests: int
    detectable_size: float
    effects: EffectSource
    parameters: Mapping[str, Any]
    notes: list[str]


@dataclass(frozen=True, eq=False)
class EffectSource:
    """What effects are measured with, and on which samples.

    Attributes
    ----------
    table : Table
    adjusted : ndarray of shape (p,) or None
        Columns that are in the model and in no pair.
    features, rough : tuple of int
        Columns with a main effect in the model, and those whose main effect is rough.
    pairs : tuple of tuple
        Pairs of columns that were found, as many as can be measured together.
    strength : float or None
        Of the penalty of the main effects, the one for the pairs found; None to choose it.
    """

    table: Table
    adjusted: Mask | None
    features: tuple[int, ...]
    rough: tuple[int, ...]
    pairs: tuple[Term, ...]
    strength: float | None

    def measured(self, more: Sequence[Term] = (), design: Design | None = None) -> Effects:
        """The model of effects, with more pairs beside those found.

        `design` is that of the samples, if it is known, with the rough main effects.
        """
        if design is None:
            design = table_design(self.table, adjusted=self.adjusted)
            design = design.with_rough(frozenset(design.features_of(self.rough)))
        pairs = map(design.features_of, dict.fromkeys((*self.pairs, *more)))
        terms: list[Term] = [pair for pair in pairs if len(pair) == 2]
        kept = np.array(design.features_of(self.features), dtype=np.intp)
        return Effects(self, effect_model(design, kept, terms, self.strength))


@dataclass(frozen=True, eq=False)
class Effects:
    """Effects of columns and pairs of columns of some samples, by one model of all of them."""

    source: EffectSource
    model: EffectModel

    def place(self, term: Term) -> Term | None:
        """The features that the columns are, if they are in the model."""
        found = self.model.design.features_of(term)
        return found if len(found) == len(term) and found in self.model.owners else None

    def measured(self, terms: Sequence[Term], *, with_shares: bool = False) -> tuple[Sizes, Array]:
        """Sizes of the effects of columns and pairs, and shares of the held-out deviance.

        NaN for those not in the model; shares are those that pairs explain.
        """
        places = [self.place(term) for term in terms]
        known = np.array([place is not None for place in places], dtype=bool)
        inside = [place for place in places if place is not None]
        parts = np.full((4, len(terms)), np.nan)
        parts[:3, known] = self.model.sizes(inside)
        if with_shares:
            parts[3, known] = self.model.held_out_shares(inside)
        return Sizes(*parts[:3]), parts[3]

    def direction(self, term: Term) -> str:
        """Where what is more likely by a pair, or by a column given the others.

        "" if nothing can be said.
        """
        place = self.place(term)
        if place is None:
            return ""
        contribution, sides = self.model.block(place).contribution, map(self._side, place)
        # With several classes the sentence is about the one whose log-odds move most.
        c = int(np.argmax(np.sum(contribution**2, axis=0)))
        in_words = feature_direction if len(place) == 1 else pair_direction
        words = in_words(contribution[:, c], self.model.known(place), *sides)
        given = ", given the others" if len(place) == 1 else ""
        subjects = outcome_words(self.source.table.outcome).subjects
        return f"{subjects[c]} {words}{given}" if words else ""

    def own_direction(self, column: int) -> str:
        """Where what is more likely as far as this column, beside covariates, can tell."""
        place = self.model.design.features_of((column,))
        if not place:
            return ""
        Y, side, weight = self._beyond_covariates, self._side(place[0]), self.model.known(place)
        centred = Y - np.average(Y, axis=0, weights=np.maximum(weight, 1e-300))
        spread = [side.spread(centred[:, c], weight) for c in range(Y.shape[1])]
        c = int(np.argmax(spread))
        words = feature_direction(centred[:, c], weight, side)
        return f"{outcome_words(self.source.table.outcome).subjects[c]} {words}"

    @cached_property
    def _beyond_covariates(self) -> Array:
        """The outcome, less what is adjusted for: a confounder may turn a direction round."""
        design = self.model.design
        if not design.adjusted:
            return design.outcome.Y
        covariates = np.array(sorted(design.adjusted), dtype=np.intp)
        return np.asarray(design.outcome.Y - fitted_on(design, covariates).means)

    def _side(self, feature: int) -> Side:
        table, levels = self.source.table, self.model.design.levels[feature]
        column = int(self.model.design.columns[feature])
        name = str(table.reader.names[column])
        kind = table.reader.kinds[column]
        return Side(name, levels, level_text(table, column, levels), kind)


def level_text(table: Table, column: int, levels: Levels) -> Callable[[int], str]:
    """What a level of a column is called."""
    kind, x = table.reader.kinds[column], table.values[:, column]
    if np.isnan(x).any() and np.all(levels.code >= 0):
        # One value or missing: levels are 0 where it is missing and 1.
        known = kind.text(np.nanmin(x))
        return lambda place: known if place else "missing"
    return lambda place: kind.text(levels.value[place])


def findings_of(
    search: Search,
    null: NullModel,
    terms: TermEvidence,
    features: FeatureEvidence,
    table: Table,
    held_out: Table | None,
    parameters: Mapping[str, Any],
    notes: Sequence[str] = (),
) -> Findings:
    """The tables of a test; effects are those of the samples `held_out`, where there are any."""
    design, n_tests = null.design, terms.first.n_tests
    in_terms = [one.term for one in terms.found]
    pairs = measurable_terms(design, in_terms)
    shown = features.features[features.is_shown]
    source = EffectSource(
        table if held_out is None else held_out,
        search.question.adjusted,
        # With features that were screened out of the null model but are shown to matter.
        tuple(design.columns[np.union1d(null.features, shown)].tolist()),
        tuple(design.columns[sorted(design.rough)].tolist()),
        tuple(tuple(design.columns[list(term)].tolist()) for term in pairs),
        None if pairs else null.strength,
    )
    effects = source.measured(design=design if held_out is None else None)
    names = np.array(table.reader.names, dtype=object)[design.columns]
    every = term_table(terms, null, names, effects)
    kept = {one.name: getattr(null, one.name) for one in fields(AdditiveModel)}
    return Findings(
        every.head(MOST_LISTED),
        every[every["is_found"]].drop(columns=["rank", "is_exact", "is_found"]),
        feature_table(features, design, names, effects, in_terms),
        AdditiveModel(**kept | {"features": design.columns[null.features]}),
        n_tests,
        detectable_size(features.contrasts, n_tests, search.alpha, design.outcome.unit),
        # One more pair hardly moves the choice, and choosing is most of the work.
        replace(source, strength=effects.model.strength),
        parameters,
        [*notes, *untested_notes(terms.first, features, names)],
    )


def untested_notes(
    first: Round, features: FeatureEvidence, names: NDArray[np.object_]
) -> Iterator[str]:
    """One sentence each on features and on terms that could not be tested, which are named."""
    untested = [names[a] for a in features.features[np.isnan(features.log_p)]]
    if untested:
        yield cannot_be_tested("feature", untested, len(features.features))
    if first.n_untested:
        is_none = first.is_exact & np.isnan(first.log_p)
        terms = [" × ".join(map(str, names[term])) for term in first.terms[is_none]]
        n_all = first.n_tests + first.n_untested
        yield cannot_be_tested(ORDER_NAMES[first.terms.shape[1]], terms, n_all)


def measurable_terms(design: Design, found: list[Term]) -> list[Term]:
    """As many of the pairs found, the first ones, as the samples can measure together.

    One by one no more are found; all at once there may be hundreds, most of them shadows.
    """
    if not found or len(found[0]) != 2:
        return []
    # Columns that are 0 for all samples are none.
    squares = [term_squares(design, np.array([pair]))[0] for pair in found[:MOST_FOUND]]
    n_columns = np.cumsum([np.sum(own > 0) for own in squares])
    n_measured = int(np.sum(n_columns <= MOST_FOUND_COLUMNS_PER_SAMPLE * design.n))
    return found[: max(n_measured, 1)]


def term_table(
    tested: TermEvidence, null: NullModel, names: NDArray[np.object_], effects: Effects
) -> pd.DataFrame:
    """All terms: those found with the evidence at their entry, then the others by evidence."""
    first, found, (n, order) = tested.first, tested.found, tested.first.terms.shape
    columns: dict[str, NDArray[Any]] = {
        **{f"feature_{i}": names[places] for i, places in enumerate(first.terms.T, 1)},
        "p_value": np.exp(first.log_p),
        "p_adjusted": np.exp(tested.log_p_adjusted),
    }
    if order == 2:
        # Terms with an exact p-value come first; the others have no size.
        missing = np.full(n - len(first.effects.gain), np.nan)
        deviance = null.intercept_deviance * null.design.n
        share = np.maximum(first.effects.gain / deviance, 0.0)
        sizes = first.effects.sizes().times(null.design.outcome.unit)
        for name, values in zip((*SIZES, "deviance_share"), (*sizes, share)):
            columns[name] = np.concatenate([values, missing])
        columns["direction"] = texts([""] * n)
    columns.update(statistic=first.statistic, is_exact=first.is_exact)
    # Only needed where something was found; for 100,000 terms it takes a while to make.
    place = {tuple(term): i for i, term in enumerate(first.terms.tolist())} if found else {}
    rows = np.array([place[one.term] for one in found], dtype=np.intp)
    in_order = np.concatenate([rows, np.delete(np.arange(n), rows)])
    columns = {name: values[in_order] for name, values in columns.items()}
    for name, at_entry in found_columns(tested, order, effects).items():
        # A found pair that could not be measured keeps its size to first order.
        is_known = ~pd.isna(at_entry)
        columns[name][: len(found)][is_known] = at_entry[is_known]
    table = pd.DataFrame(columns | {"is_found": np.arange(n) < len(found)})
    table.insert(list(table.columns).index("is_exact"), "rank", np.arange(1, n + 1))
    return table


def found_columns(tested: TermEvidence, order: int, effects: Effects) -> dict[str, NDArray[Any]]:
    """What is known of the terms found, in order of entry."""
    columns: dict[str, NDArray[Any]] = {
        "p_value": np.exp([one.log_p for one in tested.found]),
        "p_adjusted": np.exp([one.log_p_adjusted for one in tested.found]),
        "statistic": np.array([one.statistic for one in tested.found]),
    }
    if order == 3:
        return columns
    of_table = effects.model.design.columns
    pairs = [tuple(of_table[list(one.term)].tolist()) for one in tested.found]
    sizes, shares = effects.measured(pairs, with_shares=True)
    columns.update(zip(SIZES, sizes), deviance_share=shares)
    return columns | {"direction": texts([effects.direction(pair) for pair in pairs])}


def feature_table(
    tested: FeatureEvidence,
    design: Design,
    names: NDArray[np.object_],
    effects: Effects,
    found: Sequence[Term],
) -> pd.DataFrame:
    """Every feature by evidence, with directions of those whose effect is shown."""
    columns = design.columns[tested.features]
    measured, _ = effects.measured([(int(column),) for column in columns])
    # Features that are not in the model of effects have the size of a single step.
    step = tested.effects.sizes().times(design.outcome.unit)
    sizes = [np.where(np.isnan(own), other, own) for own, other in zip(measured, step)]
    directions = [""] * len(columns)
    for i in np.flatnonzero(tested.is_shown):
        column = int(columns[i])
        # What is not shown on its own may go either way there.
        is_own = tested.is_shown_alone[i]
        directions[i] = effects.own_direction(column) if is_own else effects.direction((column,))
    table = pd.DataFrame(
        {
            "feature": names[tested.features],
            "p_value": np.exp(tested.log_p),
            "p_adjusted": np.exp(tested.log_p_adjusted),
            "p_given_others": np.exp(tested.log_p_given_others),
            "p_given_others_adjusted": np.exp(tested.log_p_given_others_adjusted),
            **dict(zip(SIZES, sizes)),
            "direction": texts(directions),
            "in_pair": np.isin(tested.features, [a for term in found for a in term]),
        }
    )
    # The p-value on its own decides; that given the others is for ties.
    order = np.lexsort((tested.log_p_given_others, tested.log_p))
    return table.iloc[order].reset_index(drop=True)


def texts(values: Sequence[str]) -> NDArray[np.object_]:
    """Text for a column, as names of features are given: pandas decides what it makes of them."""
    return np.array(list(values), dtype=object)


def detectable_size(
    contrasts: Sequence[Contrast], n_tests: int, alpha: float, unit: float
) -> float:
    """Size of a joint effect that is found with 80 % power, so that "none found" says something.

    A pair whose joint effect has the size s moves one normal score by s sqrt(N), N the information
    that the samples hold: the sum of V over them, less what main effects take. It is found if it
    passes the first step of Holm's adjustment by one of the four forms of the test.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.additive.moments import KnownContrast
    >>> from immigrate.interactions.findings import detectable_size
    >>> quarter, nothing = np.full(400, 0.25), np.empty((0, 400))
    >>> even = KnownContrast(nothing.T, quarter, 1.0, 1.0, quarter, nothing)
    >>> round(detectable_size([even], n_tests=105, alpha=0.05, unit=1.0), 2)
    0.47
    """
    # Two sides, four forms and one contrast for each logit share alpha with all tests.
    limit = -special.ndtri(alpha / (2 * N_FORMS * len(contrasts) * max(n_tests, 1)))
    needed = limit + special.ndtri(POWER)
    # The variance of an estimated effect, for the mean contrast: dispersion over the sum of the
    # weights that the samples have in a fit.
    variance = [c.dispersion**2 / (c.share_left * c.variance.sum()) for c in contrasts]
    cost = ESTIMATED_VARIANCE if isinstance(contrasts[0], EstimatedContrast) else 1.0
    return float(unit * cost * needed * np.sqrt(np.mean(variance)))
