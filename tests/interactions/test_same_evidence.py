"""Every number that `InteractionTest` gave on fixed problems: evidence, sizes, surfaces, models.

The numbers in ``data/same_evidence.json`` were written by this file,
``python tests/interactions/test_same_evidence.py``. A change that is meant to leave them alone is
held to them; one that is not writes them again and says why.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn

sys.path.insert(0, str(Path(__file__).parents[1]))
from test_same_answers import (
    ABSOLUTE_ELSEWHERE,
    IS_ELSEWHERE,
    RELATIVE_ELSEWHERE,
    mixed_with_gaps,
    wine,
    xor,
)
from threadpoolctl import threadpool_limits

import immigrate as im

RECORDED = Path(__file__).parents[1] / "data" / "same_evidence.json"
# Sizes and p-values come out of iterations that end at a tolerance.
RELATIVE = 1e-9
N_PLACES = 15


def number_study(n=160):
    """Numbers with unequal noise, a pair that acts together, levels and gaps."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=["dose", "age", "bmi", "height"])
    X["site"] = pd.Categorical(rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]))
    X["grade"] = rng.integers(0, 3, n)
    y = X["dose"] * X["age"] + X["bmi"] + (X["site"] == "b") * X["grade"]
    y = y + rng.normal(size=n) * np.exp(X["height"] / 3)
    X.loc[::9, "bmi"] = np.nan
    X.loc[4::13, "site"] = np.nan
    return X, y


def class_study(n=220, n_classes=3):
    """Three classes, two pairs that act together, one of them of levels; heavy tails."""
    rng = np.random.default_rng(6)
    X = pd.DataFrame(rng.standard_t(4, size=(n, 4)), columns=["dose", "age", "bmi", "height"])
    X["site"] = pd.Categorical(rng.choice(["a", "b", "c", "d"], n))
    X["flag"] = rng.integers(0, 2, n)
    logits = np.zeros((n, n_classes))
    logits[:, 0] = 1.5 * np.sign(X["dose"] * X["age"]) - X["bmi"]
    logits[:, 1] = 2.0 * ((X["site"] == "a") == (X["flag"] == 1)) + 0.5 * X["height"]
    return X, np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)


def many_levels(n=200):
    """A copied feature, a constant one, nominal levels of which most are rare."""
    rng = np.random.default_rng(8)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    X["copy"], X["same"] = X["a"], 1.0
    X["street"] = pd.Categorical([f"s{i}" for i in rng.geometric(0.15, n)])
    X["score"] = rng.integers(0, 9, n)
    y = rng.logistic(size=n) < 1.5 * X["a"] + X["b"] * X["c"]
    return X, y.astype(int)


def numbers_in(frame):
    # Of two p-values that are equal but for rounding, either may have the smaller rank.
    return {
        name: frame[name].astype(float).tolist()
        for name in frame.select_dtypes(include=["number", "bool"])
        if name != "rank"
    }


def evidence_of(test):
    """All tables of a fitted test, its effects on a grid, and its null model."""
    found = {}
    for name in ("features_", "table_", "selected_"):
        frame = getattr(test, name)
        named = ["|".join(map(str, row)) for row in frame.filter(like="feature").to_numpy()]
        frame = frame.assign(name=named).sort_values("name", kind="stable")
        found |= {f"{name}{key}": value[:N_PLACES] for key, value in numbers_in(frame).items()}
        words = ["name", *(["direction"] if "direction" in frame else [])]
        found[f"{name}words"] = frame[words].astype(str).to_numpy()[:N_PLACES].tolist()
    if len(test.selected_) and "feature_3" not in test.selected_:
        effect = test.effect(*test.selected_.loc[0, ["feature_1", "feature_2"]])
        found["effect"] = [effect.size, effect.size_low, effect.size_high]
        for name in ("value", "low", "high", "counts"):
            found[f"effect.{name}"] = getattr(effect, name).astype(float).ravel()[::7].tolist()
    model = test.additive_model_
    found["strength"], found["deviance"] = [model.strength], [model.deviance_explained]
    found["means"] = np.asarray(model.means)[:N_PLACES].ravel().tolist()
    found["detectable"] = [getattr(test, "detectable_size_", np.nan)]
    found["summary words"] = [test.summary(), test.summary("methods")]
    return found


def evidence_on(data, weighted=False, working_memory=None, **parameters):
    def evidence():
        X, y = data()
        fit = (
            {"sample_weight": np.random.default_rng(7).integers(0, 3, len(y))} if weighted else {}
        )
        memory = {} if working_memory is None else {"working_memory": working_memory}
        with sklearn.config_context(**memory):
            return evidence_of(im.InteractionTest(**parameters).fit(X, y, **fit))

    return evidence


CASES = {
    "two classes": evidence_on(xor),
    "two classes weighted": evidence_on(xor, weighted=True),
    "three classes": evidence_on(class_study),
    "three classes weighted": evidence_on(class_study, weighted=True),
    "levels and gaps": evidence_on(mixed_with_gaps),
    "rare levels": evidence_on(many_levels, alpha=0.2),
    "numbers": evidence_on(number_study),
    "numbers weighted": evidence_on(number_study, weighted=True),
    "numbers drawn": evidence_on(
        number_study, adjust=im.options.WestfallYoung(n_draws=49, random_state=1)
    ),
    "covariates": evidence_on(class_study, adjust_for=["height", "site"]),
    "chosen pairs": evidence_on(class_study, pairs=(["dose", "flag"], ["age", "site", "dose"])),
    "split": evidence_on(lambda: class_study(300, 2), split=0.4, alpha=0.2),
    "triples": evidence_on(lambda: class_study(200, 2), order=3, alpha=0.3),
    "screened": evidence_on(class_study, screen=6),
    "screened numbers": evidence_on(number_study, screen=5),
    "screened wine": evidence_on(wine, screen=20, stepwise=False),
    "little memory": evidence_on(class_study, working_memory=0.02),
    "little memory, numbers": evidence_on(number_study, working_memory=0.02),
}


def main():
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        recorded = {name: case() for name, case in CASES.items()}
    RECORDED.write_text(json.dumps(recorded, indent=0))


@pytest.fixture(scope="module")
def recorded():
    return json.loads(RECORDED.read_text())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_evidence_is_that_of_the_code_before(name, recorded):
    now = CASES[name]()
    assert now.keys() == recorded[name].keys()
    for key, before in recorded[name].items():
        if key.endswith("words"):
            assert now[key] == before, key
            continue
        before = np.asarray(before, dtype=float)
        largest = np.abs(np.nan_to_num(before)).max(initial=0)
        rtol, atol = RELATIVE, RELATIVE * largest
        if IS_ELSEWHERE:
            rtol = 100 * RELATIVE_ELSEWHERE
            atol = 100 * (RELATIVE_ELSEWHERE * largest + ABSOLUTE_ELSEWHERE)
        np.testing.assert_allclose(now[key], before, rtol=rtol, atol=atol, err_msg=key)


if __name__ == "__main__":
    main()
