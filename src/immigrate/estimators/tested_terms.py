"""From a table that was read to evidence: all that `InteractionTest` computes, as values.

    Table  →  levels and functions  →  null model  →  search  →  effects  →  Findings

Nothing here reads a user's table, warns of its columns or writes on an estimator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from immigrate.additive.design import Design, table_design
from immigrate.additive.effects import Term, effect_model
from immigrate.additive.null_model import AdditiveModel, NullModel, null_model
from immigrate.arrays import Array, Codes, Mask
from immigrate.durations import announce
from immigrate.estimators._evidence_tables import (
    Named,
    TestedFeatures,
    TestedTerms,
    feature_table,
    found_rows,
    term_table,
)
from immigrate.estimators.measured_effects import MeasuredEffects, Subject
from immigrate.inference import search as search_limits
from immigrate.inference.feature_evidence import FeatureEvidence, feature_evidence
from immigrate.inference.power import detectable_size
from immigrate.inference.search import Effort, Search, Study, searched_terms
from immigrate.inference.stepwise import (
    Found,
    Stepwise,
    found_at_once,
    measurable_terms,
    stepwise_terms,
)
from immigrate.inference.term_sets import TermSet, every_term
from immigrate.interactions.adjustments import Adjustment, PValues
from immigrate.outcomes import check_class_sizes
from immigrate.progress import warn_user
from immigrate.table import Table

if TYPE_CHECKING:
    from immigrate.estimators._interaction_test import InteractionTest

ORDER_NAMES = {2: "pair", 3: "triple"}


@dataclass(frozen=True, eq=False)
class Findings:
    """What the test says: the fitted attributes of `InteractionTest` of the same names."""

    table: pd.DataFrame
    selected: pd.DataFrame
    features: pd.DataFrame
    additive_model: AdditiveModel
    n_tests: int
    detectable_size: float
    effects: EffectSource


@dataclass(frozen=True, eq=False)
class EffectSource:
    """What effects are measured with, and on which samples.

    Attributes
    ----------
    read : Table
    adjusted : ndarray of shape (p,) or None
        Columns that are in the model and in no pair.
    features, rough : tuple of int
        Columns with a main effect in the model, and those whose main effect is rough.
    pairs : tuple of tuple
        Pairs of columns that were found, as many as can be measured together.
    strength : float or None
        Of the penalty of the main effects, the one for the pairs found; None to choose it.
    subject : Subject
        What is more likely where an effect is positive.
    """

    read: Table
    adjusted: Mask | None
    features: tuple[int, ...]
    rough: tuple[int, ...]
    pairs: tuple[Term, ...]
    strength: float | None
    subject: Subject

    @property
    def labels(self) -> NDArray[Any]:
        """Class names, or numbers, of the samples."""
        outcome = self.read.outcome
        if outcome.numbers is not None:
            return outcome.numbers
        return np.array(self.subject.classes, dtype=object)[outcome.codes]

    def effects(self, *more: Term) -> MeasuredEffects:
        """The model of effects, with more pairs beside those found."""
        design = table_design(self.read, adjusted=self.adjusted)
        place = places_of(design.columns)
        rough = frozenset(place[c] for c in self.rough if c in place)
        return self.effects_on(replace(design, rough=rough), more)

    def effects_on(self, design: Design, more: Sequence[Term] = ()) -> MeasuredEffects:
        """The same on samples that are encoded already."""
        place = places_of(design.columns)
        wanted = dict.fromkeys((*self.pairs, *more))
        terms = [tuple(place[c] for c in pair) for pair in wanted if place.keys() >= set(pair)]
        kept = np.array([place[c] for c in self.features if c in place], dtype=np.intp)
        model = effect_model(design, kept, terms, self.strength)
        return MeasuredEffects(model, design.columns, self.read, self.subject)


def places_of(columns: Codes) -> dict[int, int]:
    """The feature that each column is."""
    return {int(column): i for i, column in enumerate(columns)}


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of a table.

    Attributes
    ----------
    order : {2, 3}
    adjusted : ndarray of shape (p,) or None
        Columns that are always in the null model and in no term.
    groups : pair of ndarrays of shape (p,), or None
        Pairs have one column of each.
    listed : ndarray of shape (t, 2) or None
        Just these pairs of columns.
    """

    order: int = 2
    adjusted: Mask | None = None
    groups: tuple[Mask, Mask] | None = None
    listed: Codes | None = None

    def terms(self, design: Design) -> TermSet:
        """The terms among the features that vary."""
        columns, tested = design.columns, design.tested
        every = every_term(len(columns), self.order, tested)
        if self.groups is not None:
            left, right = (group[columns] & every.left for group in self.groups)
            return TermSet(2, left, right)
        if self.listed is None:
            return every
        place = {int(columns[a]): int(a) for a in tested}
        known = [pair for pair in self.listed.tolist() if place.keys() >= set(pair)]
        pairs = sorted({tuple(sorted(place[column] for column in pair)) for pair in known})
        return replace(every, listed=np.array(pairs, dtype=np.intp).reshape(-1, 2))


@dataclass(frozen=True, eq=False)
class Settings:
    """What decides how terms are searched for.

    Attributes
    ----------
    question : Question
    alpha : float
    is_stepwise : bool
    adjustment : Adjustment
    effort : Effort
    subject : Subject
        What is more likely where an effect is positive.
    say : callable
        Takes one sentence after each stage.
    """

    question: Question
    alpha: float
    is_stepwise: bool
    adjustment: Adjustment
    effort: Effort
    subject: Subject
    say: Callable[[str], None]

    def findings(self, read: Table, held_out: Table | None = None) -> Findings:
        """All terms tested, those found, and the features.

        Effects are those of the samples `held_out`, where there are any.
        """
        design = table_design(read, adjusted=self.question.adjusted, run=self.effort.run)
        columns = design.columns
        self._foretell(design)
        self.effort.run.stage = "null model"
        null = null_model(design)
        data, public = null.design, null.kept()
        self.say(of_the_null_model(public))
        tested = self._tested(Study(data, self.adjustment, self.effort), null)
        self.effort.run.stage = "evidence for features"
        contrasts = null.contrasts()
        features = self._features(feature_evidence(null, contrasts))
        named = Named(np.array(read.reader.names, dtype=object), columns)
        found = tuple(named.columns_of(measurable_terms(data, tested.terms_found)))
        source = EffectSource(
            read if held_out is None else held_out,
            self.question.adjusted,
            # With features that were screened out of the null model but are shown to matter.
            tuple(columns[np.union1d(null.features, features.shown)].tolist()),
            tuple(columns[sorted(data.rough)].tolist()),
            found,
            None if found else null.strength,
            self.subject,
        )
        self.effort.run.stage = "sizes of effects"
        effects = source.effects_on(data) if held_out is None else source.effects()
        unit, deviance = data.outcome.unit, null.intercept_deviance * data.n
        table = term_table(tested, named, effects, unit=unit, deviance=deviance)
        n_tests = tested.search.n_tests
        return Findings(
            table.head(search_limits.MOST_LISTED),
            found_rows(table),
            feature_table(features, named, effects, tested.terms_found, unit=unit),
            public,
            n_tests,
            detectable_size(contrasts, n_tests, self.alpha, unit),
            # One more pair hardly moves the choice, and choosing is most of the work.
            replace(source, strength=effects.model.strength),
        )

    def _foretell(self, design: Design) -> None:
        """Say how long it will take, if that is long."""
        among = self.question.terms(design)
        effort = self.effort
        duration = search_limits.predicted_duration(
            design, among, effort.n_refined, effort.run.n_jobs
        )
        announce("InteractionTest", duration.seconds, duration.advice)

    def _tested(self, study: Study, null: NullModel) -> TestedTerms:
        """The terms that are asked for, against the null model; triples also against pairs."""
        order, model, design = self.question.order, null, study.data
        if order == 3:
            pairs = searched_terms(study, model, every_term(len(design.columns), 2, design.tested))
            model = self._stepwise(study, model, pairs).model
            self.say(f"{len(model.terms)} pairs found and added to the null model")
        search = searched_terms(study, model, self.question.terms(design))
        self.say(f"{search.n_tests} {ORDER_NAMES[order]}s tested")
        found = self._found(study, model, search)
        self.say(f"{len(found)} {ORDER_NAMES[order]}s found")
        return TestedTerms(search, search.log_p_adjusted(self.adjustment), found)

    def _features(self, evidence: FeatureEvidence) -> TestedFeatures:
        alone, given = (
            self._adjusted(log_p) for log_p in (evidence.log_p, evidence.log_p_given_others)
        )
        shown_alone, shown_given = (log_p <= np.log(self.alpha) for log_p in (alone, given))
        return TestedFeatures(evidence, alone, given, shown_alone, shown_alone | shown_given)

    def _adjusted(self, log_p: Array) -> Array:
        return self.adjustment.for_features.log_adjusted(PValues(log_p))

    def _found(self, study: Study, model: NullModel, search: Search) -> list[Found]:
        if self.is_stepwise:
            return self._stepwise(study, model, search).found
        return found_at_once(study, search, self.alpha)

    def _stepwise(self, study: Study, model: NullModel, search: Search) -> Stepwise:
        """Terms found one by one; says so where a limit ends the search."""
        steps = stepwise_terms(study, model, search, self.alpha)
        if steps.limit:
            warn_user(
                f"The stepwise search ended because {steps.limit}; there may be more "
                "significant terms: see table_, or use stepwise=False.",
                UserWarning,
            )
        return steps


def of_the_null_model(model: AdditiveModel) -> str:
    """One sentence about the additive model."""
    n = len(model.features)
    return (
        f"Main effects of {n} feature{'s' * (n != 1)} explain "
        f"{100 * model.deviance_explained:.0f} % of the deviance on held-out samples"
    )


def fitted_on_read(test: InteractionTest, read: Table) -> InteractionTest:
    """A clone of `test`, fitted on a table that an estimator has read and warned of before."""
    test, read = clone(test), read.counted()
    classes = read.outcome.classes
    check_class_sizes(classes, np.bincount(read.outcome.codes, minlength=len(classes)), least=1)
    test._check_parameters()
    findings = test._findings(read)
    test.classes_ = classes
    test.n_features_in_ = read.values.shape[1]
    test.feature_names_in_ = np.array(read.reader.names, dtype=object)
    test._adopt(findings)
    return test
