"""What `InteractionTest` found, in words: the answer, and the sentences that a paper needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd

from immigrate._version import __version__
from immigrate.estimators.tested_terms import ORDER_NAMES, of_the_null_model
from immigrate.interactions.adjustments import adjustment_of

if TYPE_CHECKING:
    from immigrate.estimators._interaction_test import InteractionTest

MOST_LISTED = 20
CITATION = (
    "R. Zhao, P. Hong and J. S. Liu, IMMIGRATE: A Margin-Based Feature Selection Method with "
    "Interaction Terms, Entropy 22 (2020), doi:10.3390/e22030291"
)


def plain_summary(test: InteractionTest) -> str:
    """The answer: which features, which terms, how sure, how large and which way."""
    return "\n".join([*_of_features(test), *_of_terms(test), *_of_the_model(test)])


def p_text(p: float) -> str:
    """A p-value as it is printed; never 0."""
    return f"= {p:.2g}" if p > 0 else "< 1e-300"


def shown_features(test: InteractionTest) -> pd.DataFrame:
    """The rows of `features_` whose own effect is shown."""
    features = test.features_
    return features[features["p_adjusted"] <= test._fitted_as["alpha"]]


def _of_features(test: InteractionTest) -> Iterator[str]:
    # As it was fitted: parameters may have been set since.
    shown, n, alpha = shown_features(test), len(test.features_), test._fitted_as["alpha"]
    if not len(shown):
        yield f"Which features matter: none detected among {n}."
        return
    each = "" if len(shown) == 1 else ", each on its own"
    yield f"Which features matter: {len(shown)} of {n} detected{each}."
    for _, row in shown.head(MOST_LISTED).iterrows():
        yield (
            f"  {row['feature']}: adjusted p {p_text(row['p_adjusted'])}; {row['direction']}; "
            f"given the others p {p_text(row['p_given_others'])}{_size_given(row, alpha)}"
        )
    if len(shown) > MOST_LISTED:
        yield f"  and {len(shown) - MOST_LISTED} more, in features_"


def _of_terms(test: InteractionTest) -> Iterator[str]:
    name, selected = ORDER_NAMES[test._fitted_as["order"]], test.selected_
    tested = f"{test.n_tests_} {name}{'s' * (test.n_tests_ != 1)}"
    if not len(selected):
        yield f"Which act together: none detected among {tested}."
        if name == "pair" and test.n_tests_:
            yield (
                "  Between two numeric columns without gaps, a product of size "
                f"{test.detectable_size_:.2g} would have been found with a probability of 80 %."
            )
        return
    yield (
        f"Which act together: {len(selected)} of {tested} detected, beyond the "
        "features' own effects."
    )
    for _, row in selected.head(MOST_LISTED).iterrows():
        names = " × ".join(str(row[f"feature_{i}"]) for i in range(1, 4) if f"feature_{i}" in row)
        yield f"  {names}: adjusted p {p_text(row['p_adjusted'])}{_effect(row)}"
    if len(selected) > MOST_LISTED:
        yield f"  and {len(selected) - MOST_LISTED} more, in selected_"


def _of_the_model(test: InteractionTest) -> Iterator[str]:
    yield f"{of_the_null_model(test.additive_model_)}."
    yield f"Size: {_what_size_is(test)}, with its 95 % interval."
    if len(test.selected_) and test._fitted_as["split"] is None:
        yield (
            "The samples that chose a pair also measured it, so that its size is rather too large "
            "than too small; split=0.5 measures it on others."
        )


def _what_size_is(test: InteractionTest) -> str:
    subject = test._effect_source.subject
    what = "the log-odds" if subject.classes else subject.number
    return f"spread over the samples of what the effect adds to {what}"


def _effect(row: pd.Series[Any]) -> str:
    """Size and direction, where the row has them."""
    if "size" not in row.index or pd.isna(row["size"]):
        return ""
    text = f", {_size(row)}"
    return f"{text}; {row['direction']}" if row["direction"] else text


def _size_given(row: pd.Series[Any], alpha: float) -> str:
    """The size given the others, where there is an effect to speak of."""
    return f", {_size(row)}" if row["p_given_others"] <= alpha else ""


def _size(row: pd.Series[Any]) -> str:
    return f"size {row['size']:.2g} ({row['size_low']:.2g} to {row['size_high']:.2g})"


def methods_paragraph(test: InteractionTest) -> str:
    """What a paper has to say about the test."""
    fitted, model, source = test._fitted_as, test.additive_model_, test._effect_source
    name = ORDER_NAMES[fitted["order"]]
    # 0 classes: the label is a number.
    n_classes = len(source.subject.classes)
    regression = {0: "linear", 2: "logistic"}.get(n_classes, "multinomial logistic")
    what = "the mean of the outcome" if not n_classes else "the log-odds of the classes"
    sentences = [
        f"We tested {test.n_tests_} {name}s of features for a departure from additivity "
        f"(InteractionTest, immigrate {__version__}).",
        f"The null model states that {what} {'is' if not n_classes else 'are'} a sum of smooth "
        f"functions of single features; it was fitted by ridge-penalised {regression} regression "
        f"with {len(model.features)} features, the penalty chosen by 5-fold cross-validation, and "
        f"explained {100 * model.deviance_explained:.0f} % of the held-out deviance.",
        *_of_covariates(test),
        "The statistic is a quadratic form of products of functions of the features with the "
        "residuals of the null model, combined from several forms by the Cauchy method"
        + (", with variances estimated from the residuals." if not n_classes else "."),
        f"P-values were adjusted for {test.n_tests_} tests by "
        f"{adjustment_of(fitted['adjust']).sentence} (alpha = {fitted['alpha']:g}).",
    ]
    if fitted["stepwise"]:
        sentences.append(
            f"Terms were added to the null model one by one; {len(test.selected_)} "
            f"{name}{'s' * (len(test.selected_) != 1)} entered."
        )
    if fitted["split"] is not None:
        sentences.append(
            f"Effect sizes come from a share of {fitted['split']:g} of the samples, which took no "
            "part in the tests."
        )
    return " ".join([*sentences, f"Reference: {CITATION}."])


def _of_covariates(test: InteractionTest) -> list[str]:
    source = test._effect_source
    if source.adjusted is None or not source.adjusted.any():
        return []
    names = [str(name) for name, is_in in zip(source.read.reader.names, source.adjusted) if is_in]
    return [f"It was adjusted for {', '.join(names)}."]
