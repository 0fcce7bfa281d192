"""Made-up tables as a hospital exports them, and what the interaction test finds in them.

    OMP_NUM_THREADS=1 python benchmarks/columns/messy_tables.py [--tables 300]

`messy_table` writes a table with text, missing values, flags, names of nothing and two planted
pairs to the text of a CSV file and reads it back with pandas, so that it comes as such files
come. The test gets it with no preparation. Appends to results/messy_tables.csv as it goes, skips
the seeds that are there, and prints the shares that docs/measurements/columns.md shows.
"""

from __future__ import annotations

import argparse
import csv
import io
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import binom

from immigrate import InteractionTest
from immigrate.arrays import Array, Mask

RESULTS = Path(__file__).parents[1] / "results" / "messy_tables.csv"
ALPHA = 0.05
N_SAMPLES = (350, 600)
LARGEST_MISSING_SHARE = 0.08
# Log-odds per standard deviation, and half the difference between the two cells of a xor.
MAIN_EFFECT, XOR_EFFECT, PRODUCT_EFFECT = 0.7, 1.3, 1.2

NUMBER_NAMES = [
    "age", "BMI [kg/m²]", "CRP µg/ml", "Größe (cm)", "θ_max", "体温", "lab", "LDL; fasting",
    "pulse, resting", "σ²", "Hb\tg/dl", "créatinine", "x", "vitamin D₃", "eGFR%", "HbA1c",
    "laboratory value no. 17, fasting, corrected, exported from version 3.2.1 (do not edit) — "
    "see the appendix of the manual for the units, which have changed twice since 2019",
]  # fmt: skip
CATEGORY_NAMES = [
    "genotype (rs1801133)", "Zentrum", "blood group", "ward", "insurance", "医院", "ethnicité",
    "referred by", "diagnosis",
]  # fmt: skip
FLAG_NAMES = ["smoker", "Frau?", "diabetic", "on statins", "née prématurée"]
LEVELS = [
    ["AA", "AG", "GG"],
    ["Zürich", "Kraków", "北京", "São Paulo"],
    ["0", "A", "B", "AB"],
    ["mild", "moderate", "severe", "n/k"],
    ["E11.9", "I10", "J45.0", "N18.3", "M54.5", "F32.1"],
    [f"Station {i}" for i in range(12)],
    [f"Dr. {letter}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"],
]
# What a planted pair is made of: no level may be too rare for an effect to show.
SHORT_LISTS = LEVELS[:5]
FLAG_WORDS = [("False", "True"), ("no", "yes"), ("0", "1"), ("nein", "ja")]
IDENTIFIER_FORMS = ["P{}", "#{:x}", "{}", "Fall {}/21"]
FILE_FORMS = [(";", ","), (",", "."), ("\t", ".")]
DATE_FORMS = ["%d.%m.%Y", "%Y-%m-%d", "%m/%d/%Y", "%d %b %Y", "%Y-%m-%d %H:%M"]


@dataclass(frozen=True, eq=False)
class MessyTable:
    """A table as it was read, and what is in it.

    Attributes
    ----------
    X : DataFrame
    y : Series
        Two outcomes, as text.
    pairs : tuple of frozenset of str
        Names of the two pairs that act together.
    main : str
        The column with an effect of its own.
    no_features : frozenset of str
        The identifier, the dates and the constant.
    """

    X: pd.DataFrame
    y: pd.Series
    pairs: tuple[frozenset[str], frozenset[str]]
    main: str
    no_features: frozenset[str]


def messy_table(seed: int) -> MessyTable:
    """A made-up table of another size, with other names and other forms, for every seed.

    Parameters
    ----------
    seed : int

    Returns
    -------
    MessyTable

    Examples
    --------
    >>> from benchmarks.columns.messy_tables import messy_table
    >>> table = messy_table(3)
    >>> sorted(table.no_features)
    ['patient_id', 'study', 'visit_date']
    >>> all(pair <= set(table.X) for pair in table.pairs)
    True
    """
    rng = np.random.default_rng([17, seed])
    sheet = Sheet(rng, int(rng.integers(*N_SAMPLES)))
    no_features = [sheet.identifier(), sheet.dates(), sheet.constant()]
    (level, is_in_set), (other, is_set) = sheet.category(SHORT_LISTS), sheet.two_way()
    (first, u), (second, v), (main, w) = sheet.number(), sheet.number(), sheet.number()
    sheet.noise()
    product = u * v if rng.random() < 0.5 else np.sign(u * v)
    xor = np.where(is_in_set ^ is_set, XOR_EFFECT, -XOR_EFFECT)
    logit = MAIN_EFFECT * w + xor + PRODUCT_EFFECT * product + rng.uniform(-1, 0.5)
    is_case = rng.logistic(size=sheet.n) < logit
    return MessyTable(
        sheet.as_read(),
        pd.Series(np.where(is_case, "relapse", "no relapse"), name="outcome"),
        (frozenset([level, other]), frozenset([first, second])),
        main,
        frozenset(no_features),
    )


class Sheet:
    """Columns of text that are written one by one, as an export writes them.

    Methods that draw a feature return its name and what the outcome may depend on.
    """

    def __init__(self, rng: np.random.Generator, n: int) -> None:
        self.rng, self.n = rng, n
        self.columns: list[tuple[str, list[str]]] = []
        pools = NUMBER_NAMES, CATEGORY_NAMES, FLAG_NAMES
        self._numbers, self._categories, self._flags = (
            iter(rng.permutation(pool).tolist()) for pool in pools
        )
        self._separator, self._decimal = FILE_FORMS[rng.integers(len(FILE_FORMS))]

    def write(self, name: str, texts: list[str]) -> None:
        """Add a column, half of the time with missing values."""
        share = self.rng.choice([0, self.rng.uniform(0, LARGEST_MISSING_SHARE)])
        is_missing = self.rng.random(self.n) < share
        self.columns.append(
            (name, ["" if missing else text for missing, text in zip(is_missing, texts)])
        )

    def number(self) -> tuple[str, Array]:
        """A normal variable, written with few digits or as the exponential of it."""
        name, z = next(self._numbers), self.rng.normal(size=self.n)
        shown = np.exp(z) if self.rng.random() < 0.3 else self.rng.uniform(5, 100) + 4 * z
        digits = 2 if shown.min() < 1 else int(self.rng.integers(0, 4))
        self.write(name, [f"{x:.{digits}f}".replace(".", self._decimal) for x in shown])
        return name, z

    def category(self, lists: list[list[str]]) -> tuple[str, Mask]:
        """Levels, and whether the sample has one of a random half of them."""
        name, levels = next(self._categories), lists[self.rng.integers(len(lists))]
        chance = self.rng.dirichlet(np.full(len(levels), 8.0))
        codes = self.rng.choice(len(levels), self.n, p=chance)
        self.write(name, [levels[code] for code in codes])
        chosen = self.rng.permutation(len(levels))[: len(levels) // 2]
        return name, np.isin(codes, chosen)

    def flag(self) -> tuple[str, Mask]:
        """Yes or no, in one of several words."""
        name, words = next(self._flags), FLAG_WORDS[self.rng.integers(len(FLAG_WORDS))]
        is_set = self.rng.random(self.n) < self.rng.uniform(0.3, 0.6)
        self.write(name, [words[int(x)] for x in is_set])
        return name, is_set

    def two_way(self) -> tuple[str, Mask]:
        """A flag, or a category split in two."""
        return self.flag() if self.rng.random() < 0.7 else self.category(SHORT_LISTS)

    def noise(self) -> None:
        """Columns that nothing depends on, two of them with one name."""
        for _ in range(self.rng.integers(2, 6)):
            self.number()
        for _ in range(self.rng.integers(1, 4)):
            self.category(LEVELS)
        self.flag()
        self.write("dose_mg", self.rng.choice(["10", "20", "40"], self.n).tolist())
        copied, _ = self.number()
        self.write(copied, [f"{x:.0f}" for x in self.rng.normal(100, 15, self.n)])

    def identifier(self) -> str:
        """A code per patient, as text or as a number; a few patients come twice."""
        numbers = 10_000 + self.rng.permutation(3 * self.n)[: self.n]
        is_second = self.rng.random(self.n) < self.rng.choice([0, 0.1])
        numbers[is_second] = self.rng.choice(numbers, int(is_second.sum()))
        form = IDENTIFIER_FORMS[self.rng.integers(len(IDENTIFIER_FORMS))]
        self.columns.append(("patient_id", [form.format(x) for x in numbers]))
        return "patient_id"

    def dates(self) -> str:
        """Days within two years, as text."""
        days = pd.Timestamp("2021-01-03") + pd.to_timedelta(
            np.sort(self.rng.integers(0, 2 * 365 * 24 * 60, self.n)), unit="min"
        )
        form = DATE_FORMS[self.rng.integers(len(DATE_FORMS))]
        self.write("visit_date", days.strftime(form).tolist())
        return "visit_date"

    def constant(self) -> str:
        """One value for all."""
        self.columns.append(("study", [str(self.rng.choice(["CARE-2", "7"]))] * self.n))
        return "study"

    def as_read(self) -> pd.DataFrame:
        """The columns in any order, written to the text of a file and read by pandas."""
        file = io.StringIO()
        order = self.rng.permutation(len(self.columns))
        writer = csv.writer(file, delimiter=self._separator)
        writer.writerow([self.columns[j][0] for j in order])
        writer.writerows(zip(*(self.columns[j][1] for j in order)))
        file.seek(0)
        return pd.read_csv(file, sep=self._separator, decimal=self._decimal)


def findings(seed: int) -> dict[str, object]:
    """What the test finds in one table that it gets as it is."""
    table = messy_table(seed)
    start = time.process_time()
    with warnings.catch_warnings():
        # The notes on identifiers and dates are tested elsewhere.
        warnings.simplefilter("ignore")
        test = InteractionTest(alpha=ALPHA).fit(table.X, table.y)
    seconds = time.process_time() - start
    found = [frozenset(row) for row in test.selected_[["feature_1", "feature_2"]].to_numpy()]
    false = [pair for pair in found if pair not in table.pairs]
    tested = set(test.table_[["feature_1", "feature_2"]].to_numpy().ravel())
    return {
        "seed": seed,
        "n": len(table.X),
        "p": table.X.shape[1],
        "n_tests": test.n_tests_,
        "is_xor_found": table.pairs[0] in found,
        "is_product_found": table.pairs[1] in found,
        "n_false": len(false),
        "n_of_no_feature": sum(bool(pair & table.no_features) for pair in false),
        "no_features_tested": ", ".join(sorted(tested & table.no_features)),
        "false": "; ".join(" × ".join(sorted(pair)) for pair in false),
        "seconds": round(seconds, 3),
    }


def missing_seeds(n_tables: int) -> Iterator[int]:
    """Seeds without a row in the results."""
    done = set(pd.read_csv(RESULTS)["seed"]) if RESULTS.exists() else set()
    yield from (seed for seed in range(n_tables) if seed not in done)


def summary(rows: pd.DataFrame) -> pd.Series:
    """Shares over the tables, and how many with a false find chance allows at this alpha."""
    n = len(rows)
    return pd.Series(
        {
            "tables": n,
            "with a false find": int((rows["n_false"] > 0).sum()),
            "that chance exceeds in 1 of 100 such runs": int(binom.ppf(0.99, n, ALPHA)),
            "identifier is a plain number, and tested": int(
                rows["no_features_tested"].notna().sum()
            ),
            "identifier, date or constant found": int((rows["n_of_no_feature"] > 0).sum()),
            "xor found": int(rows["is_xor_found"].sum()),
            "product found": int(rows["is_product_found"].sum()),
            "both found": int((rows["is_xor_found"] & rows["is_product_found"]).sum()),
            "exactly the two": int(
                (rows["is_xor_found"] & rows["is_product_found"] & (rows["n_false"] == 0)).sum()
            ),
        }
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=300)
    for seed in missing_seeds(parser.parse_args().tables):
        row = pd.DataFrame([findings(seed)])
        row.to_csv(RESULTS, mode="a", header=not RESULTS.exists(), index=False)
        print(row.to_string(index=False, header=False), flush=True)
    print(summary(pd.read_csv(RESULTS)).to_string())
