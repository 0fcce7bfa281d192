"""Pictures of pairs of features of every kind: `python examples/pair_effects.py [folder]`.

Two classes, four classes and a number as the label; two numbers, levels beside a number, levels
beside levels; long names, thirty levels, missing values. All tables are drawn at random.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from immigrate import InteractionTest
from immigrate.plotting import PairEffectDisplay

N_SAMPLES = 900
WIDTH = 1280  # pixels
KINDS = {
    "number-number": ("dose", "age"),
    "level-number": ("stage", "dose"),
    "level-level": ("stage", "sex"),
}
LONG_NAMES = {
    "dose": "plasma concentration of the active metabolite, day 28",
    "age": "years_since_first_diagnosis_at_any_participating_centre",
    "stage": "histological stage by two independent pathologists",
    "sex": "sex as entered in the registry of the referring hospital",
}
LONG_LEVELS = {
    "I": "stage I: confined to the organ of origin",
    "II": "stage II: grown into the tissue around it",
    "III": "stage III: found in regional lymph nodes",
}


def patients(rng: np.random.Generator) -> pd.DataFrame:
    """A table of patients with numbers, levels and many levels."""
    centres = [f"centre {i:02d}" for i in range(1, 31)]
    # Older patients get more, so that some combinations hold few samples.
    dose, age = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], N_SAMPLES).T
    return pd.DataFrame(
        {
            "dose": np.exp(1 + 0.8 * dose),
            "age": (55 + 12 * age).round(),
            "stage": rng.choice(["I", "II", "III"], N_SAMPLES, p=[0.5, 0.4, 0.1]),
            "sex": rng.choice(["female", "male"], N_SAMPLES),
            "centre": rng.choice(centres, N_SAMPLES),
            "ward": rng.choice([f"ward {i:02d}" for i in range(1, 31)], N_SAMPLES),
        }
    )


def joint_effects(X: pd.DataFrame) -> np.ndarray:
    """What pairs of features add to a score; it has main effects as well."""
    dose = standardised(np.log(X["dose"]))
    age = standardised(X["age"])
    is_first = np.where(X["stage"] == "I", 1.0, -1.0)
    is_male = np.where(X["sex"] == "male", 1.0, -1.0)
    is_early = np.where(X["centre"] < "centre 11", 1.0, -1.0)
    pairs = 1.2 * dose * age + 0.9 * is_first * dose + 0.8 * is_first * is_male
    return pairs + 0.8 * is_early * (dose + is_male) + 0.5 * age


def standardised(values: pd.Series) -> np.ndarray:
    """Values less their mean, in standard deviations."""
    return ((values - values.mean()) / values.std()).to_numpy()


def two_classes(score: np.ndarray, rng: np.random.Generator) -> pd.Series:
    """A class that is more likely where the score is high."""
    is_relapse = rng.logistic(size=len(score)) < score
    return pd.Series(np.where(is_relapse, "relapse", "none"), name="outcome")


def four_classes(score: np.ndarray, rng: np.random.Generator) -> pd.Series:
    """Classes of which three depend on the score, each in its own way."""
    names = np.array(["cured", "relapse", "second tumour", "stable"])
    log_odds = np.column_stack([-score, score, 0.5 * np.abs(score), np.zeros(len(score))])
    return pd.Series(names[(log_odds + rng.gumbel(size=log_odds.shape)).argmax(axis=1)])


def number(score: np.ndarray, rng: np.random.Generator) -> pd.Series:
    """A label that is a number."""
    return pd.Series(40 + 8 * (score + rng.normal(size=len(score))), name="marker level in ng/ml")


LABELS: dict[str, Callable[[np.ndarray, np.random.Generator], pd.Series]] = {
    "two-classes": two_classes,
    "four-classes": four_classes,
    "number": number,
}


def with_gaps(X: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """The table with a fifth of all values missing."""
    return X.mask(rng.random(X.shape) < 0.2)


def with_long_names(X: pd.DataFrame) -> pd.DataFrame:
    """The table with long names of features and levels."""
    return X.replace({"stage": LONG_LEVELS}).rename(columns=LONG_NAMES)


def saved(display: PairEffectDisplay, folder: Path, name: str) -> None:
    """Save a picture that is `WIDTH` pixels wide."""
    figure = display.figure_
    figure.savefig(folder / f"{name}.png", dpi=WIDTH / figure.get_figwidth())
    plt.close(figure)
    print(f"{name}: {display.effect.direction}")


def draw(folder: Path) -> None:
    """Draw the whole gallery."""
    rng = np.random.default_rng(0)
    X = patients(rng)
    score = joint_effects(X)
    for label, labelled in LABELS.items():
        y = labelled(score, rng)
        test = InteractionTest().fit(X, y)
        for kind, pair in KINDS.items():
            saved(PairEffectDisplay.from_estimator(test, *pair), folder, f"{kind}-{label}")
        for one in ("dose", "sex", "ward"):
            picture = PairEffectDisplay.from_estimator(test, "centre", one)
            saved(picture, folder, f"thirty-levels-{one}-{label}")
        test = InteractionTest().fit(with_long_names(with_gaps(X, rng)), y)
        for kind, pair in KINDS.items():
            long_pair = [LONG_NAMES[name] for name in pair]
            picture = PairEffectDisplay.from_estimator(test, *long_pair)
            saved(picture, folder, f"long-names-gaps-{kind}-{label}")


if __name__ == "__main__":
    mpl.use("Agg")
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "build/gallery")
    target.mkdir(parents=True, exist_ok=True)
    draw(target)
