from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

# Without it scikit-learn skips one of its estimator checks. Read when SciPy is imported.
os.environ["SCIPY_ARRAY_API"] = "1"

# A shell starts what runs in the background with Ctrl-C ignored; some tests send it to themselves.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("default", deadline=None, derandomize=True)
settings.load_profile("default")

GOLDEN = json.loads((Path(__file__).parent / "data" / "r_immigrate_0.2.1.json").read_text())


@pytest.fixture(params=GOLDEN, ids=lambda case: case["name"])
def golden(request):
    """One case of the R package's outputs, lists turned into arrays."""
    return {k: np.array(v) if isinstance(v, list) else v for k, v in request.param.items()}


@pytest.fixture(autouse=True)
def _no_word_of_long_waits(monkeypatch):
    """A busy machine must not make a test hear where a fit is; those of these words undo it."""
    monkeypatch.setattr("immigrate.progress.SILENT_SECONDS", 3600.0)
