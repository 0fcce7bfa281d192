"""``immigrate warm-up``: compile now what other commands would compile first."""

from __future__ import annotations

import time

from immigrate.cli._screen import show, working


def warm_up() -> None:
    """Fit every kind of model on a table with numbers, names and gaps."""
    start = time.perf_counter()
    with working("compiling; once per version and machine"):
        from immigrate import BoostedImmigrateClassifier, ImmigrateClassifierCV
        from immigrate.kernels import cache_folder

        # Both, because the passes over plain numbers and over other kinds are compiled apart.
        for X, y in (_table(with_gaps=False), _table(with_gaps=True)):
            for model in (ImmigrateClassifierCV(), BoostedImmigrateClassifier(n_estimators=2)):
                model.fit(X, y).predict_proba(X)
    seconds = time.perf_counter() - start
    folder = cache_folder()
    kept = f"the code is kept in {folder}" if folder else "no folder can be written to keep it"
    show(f"ready after {seconds:.0f} s; {kept}.")


def _table(*, with_gaps: bool) -> tuple[object, object]:
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, 3)), columns=["a", "b", "c"])
    y = np.where(X["a"] * X["b"] > 0, "even", "odd")
    if with_gaps:
        X.loc[::5, "b"] = np.nan
        X["d"] = rng.choice(["x", "y", "z"], len(X))
    return X, y
