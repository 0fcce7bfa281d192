"""The demo answers with evidence, and comes to the weights after it."""

from __future__ import annotations

import matplotlib.pyplot as plt

from immigrate import demo
from immigrate.datasets import make_monk1


def test_evidence_is_printed_before_weights(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(demo, "FOLDER", tmp_path)
    demo.show("MONK-1: robots", *make_monk1())
    plt.close("all")
    said = capsys.readouterr().out
    parts = ["Which features matter: 1 of 6", "Which act together: 1 of 15", "What the model uses"]
    places = [said.index(part) for part in parts]
    assert places == sorted(places)
    assert "size 4.8 (3.5 to 6.1); class 1 is more likely where head_shape is 1" in said
    assert {path.name for path in tmp_path.iterdir()} == {
        "monk-1.html",
        "monk-1-pairs.png",
        "monk-1-sigma-path.png",
        "monk-1-weights.png",
    }
