"""A fit of a small table by one step of the paper: what the calls around the kernel cost.

    git worktree add ../before COMMIT
    python benchmarks/speed/small_fit.py --before ../before/src

Prints milliseconds of processor time, and ratios to the fit of scikit-learn's LogisticRegression
in the same process. The two versions take turns.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parents[2] / "src"

FITS = """
import time, warnings
import numpy as np
from sklearn.linear_model import LogisticRegression
from immigrate import ImmigrateClassifier
try:
    from immigrate.options import FullSteps
except ImportError:
    from immigrate import FullSteps

warnings.simplefilter("ignore")  # one step does not converge
rng = np.random.default_rng(0)
X = rng.standard_normal((200, 5))
y = (X[:, 0] * X[:, 1] > 0).astype(int)

def milliseconds(model, repeats=300):
    model.fit(X, y)
    taken = []
    for _ in range(repeats):
        start = time.thread_time()
        model.fit(X, y)
        taken.append(time.thread_time() - start)
    return 1e3 * np.percentile(taken, 20)

own = milliseconds(ImmigrateClassifier(solver=FullSteps(max_iter=1)))
print(own, milliseconds(LogisticRegression()))
"""


def small_fits(source: Path) -> tuple[float, float]:
    """Milliseconds of a fit of this library and of a logistic regression."""
    names = {"PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    run = subprocess.run(
        [sys.executable, "-c", FITS],
        env={**os.environ, **names},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    own, logistic = map(float, run.stdout.split())
    return own, logistic


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--before", type=Path, help="src folder of another version")
    parser.add_argument("--turns", type=int, default=4)
    options = parser.parse_args()
    sources = {"now": HERE}
    if options.before is not None:
        sources = {"before": options.before, "now": HERE}
    shares: dict[str, list[float]] = {name: [] for name in sources}
    print("             fit  logistic   ratio")
    for _ in range(options.turns):
        for name, source in sources.items():
            own, logistic = small_fits(source)
            shares[name].append(own / logistic)
            print(f"{name:6} {own:6.2f} ms {logistic:6.2f} ms {own / logistic:7.2f}")
    medians = {name: statistics.median(ratios) for name, ratios in shares.items()}
    if "before" in medians:
        print(f"now / before: {medians['now'] / medians['before']:.2f}")


if __name__ == "__main__":
    main()
