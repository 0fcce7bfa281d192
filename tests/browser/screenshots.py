"""Pictures of the page: ``python tests/browser/screenshots.py docs/figures``.

Four tables, two widths, light and dark. The second table is not part of the project: it is drawn
where IMMIGRATE_DATA names its folder.
"""

from __future__ import annotations

import base64
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image
from scipy.special import expit

from immigrate import Report
from immigrate.datasets import make_trial

SIZES = {1280: 1250, 390: 1250}
N_COLOURS = 128
SEED = 3


def tables() -> Iterator[tuple[str, pd.DataFrame, str, str]]:
    """Name, table, target and title."""
    yield "trial", make_trial(random_state=0), "outcome", "A trial: who is helped by the drug?"
    messy = Path(os.environ.get("IMMIGRATE_DATA", "")) / "messy.csv"
    if messy.is_file():
        yield "messy", pd.read_csv(messy, sep=";", decimal=","), "outcome", "A table as exported"
    yield "four-classes", four_classes(), "species", "Four species"
    yield "wide", wide(), "status", "1,000 genes, 300 samples"


def four_classes() -> pd.DataFrame:
    """Two features that act alone, two that act together, and a site, on four species."""
    rng = np.random.default_rng(SEED)
    names = ["petal length", "petal width", "soil pH", "rain", "light", "slope", "nitrogen"]
    X = pd.DataFrame(rng.standard_normal((400, len(names))), columns=names)
    X["site"] = rng.choice(["north", "south", "coast"], 400)
    scores = np.column_stack(
        [
            1.2 * X["petal length"],
            X["soil pH"] - 1.2 * X["petal length"],
            2.2 * X["rain"] * X["light"],
            1.4 * (X["site"] == "coast"),
        ]
    )
    chosen = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    return X.assign(species=np.array(["alpina", "borealis", "cincta", "dubia"])[chosen])


def wide() -> pd.DataFrame:
    """One gene that acts alone and two that act together among 1,000."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 1000))
    is_case = rng.uniform(size=300) < expit(1.3 * X[:, 3] + 2.2 * X[:, 7] * X[:, 11])
    table = pd.DataFrame(X, columns=[f"gene {i:04d}" for i in range(1000)])
    return table.assign(status=np.where(is_case, "case", "control"))


def main(folder: Path) -> None:
    from conftest import Page, started

    with tempfile.TemporaryDirectory() as place:
        page = Page(started(Path(place) / "profile"))
        for name, table, target, title in tables():
            path = Report.of(table, target, title=title).save(Path(place) / f"{name}.html")
            for width, height in SIZES.items():
                for dark in (False, True):
                    page.open(path, width=width, height=height, dark=dark)
                    shot = page.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
                    to = folder / f"report-{name}-{width}-{'dark' if dark else 'light'}.png"
                    store(base64.b64decode(shot["data"]), to)
                    print(to, f"{to.stat().st_size / 1000:.0f} kB", flush=True)
        page.driver.quit()


def store(picture: bytes, path: Path) -> None:
    """A picture of few colours; means of like ones, so that the points of a class keep theirs."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image.quantize(N_COLOURS, kmeans=2, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
