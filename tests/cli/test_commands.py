"""Each command does what it says, says what it did, and says the same again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli.tables import csv_text, xor_table

import immigrate
from immigrate.cli.comparison import Comparison, corrected_p
from immigrate.cli.tables import chosen_pairs
from immigrate.estimators import immigrate_cv
from immigrate.persistence import load_model, read_model, save_model

HEAVY = {"numpy", "pandas", "scipy", "sklearn", "numba", "matplotlib"}


def test_version_and_help_load_nothing_heavy():
    code = (
        "import sys\nfrom immigrate.cli import main\n"
        "main(['--version']), main(['--help']), main(['report', '--help'])\n"
        f"print(*{HEAVY!r} & set(sys.modules), file=sys.stderr)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert ended.stderr.strip() == ""
    assert ended.stdout.startswith(f"immigrate {immigrate.__version__}\n")


def test_help_is_shown_for_nothing(run):
    ended = run()
    assert (ended.code, ended.err) == (0, "")
    assert "compare" in ended.out


def test_test_shows_evidence_and_writes_it(run, xor_csv, tmp_path):
    ended = run("test", xor_csv, "--target", "outcome", "--csv", "e.csv", "--json", "e.json")
    assert ended.code == 0
    assert ended.err == "read xor.csv: 80 rows, 4 columns; UTF-8, commas, decimal points\n"
    lines = ended.out.splitlines()
    assert lines[0].startswith("Which features matter: ")
    assert any(line.startswith("  dose × age: adjusted p ") for line in lines)
    table = pd.read_csv(tmp_path / "e.csv")
    assert table["kind"].value_counts().to_dict() == {"feature": 3, "pair": 3}
    content = json.loads((tmp_path / "e.json").read_text())
    assert content["format"] == "immigrate evidence 1"
    assert (content["pairs"][0]["feature_1"], content["pairs"][0]["is_found"]) == ("dose", True)
    assert [row["feature"] for row in content["features"]] == list(table["feature_1"][:3])


def test_the_same_input_gives_the_same_bytes(run, xor_csv, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    said = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        monkeypatch.setenv("COLUMNS", {"a": "60", "b": "200"}[name])
        common = ("--target", "outcome")
        outs = [
            run("test", xor_csv, *common, "--csv", "e.csv", "--json", "e.json"),
            run("fit", xor_csv, *common, "--out", "m.model"),
            run("predict", "m.model", xor_csv, "--out", "p.csv"),
            run("compare", xor_csv, *common, "--folds", "2", "--csv", "c.csv"),
        ]
        assert [one.code for one in outs] == [0] * 4
        files = {one.name: one.read_bytes() for one in Path.cwd().iterdir()}
        assert set(files) == {"e.csv", "e.json", "m.model", "p.csv", "c.csv"}
        said.append((outs, files))
    assert said[0] == said[1]


def test_predict_says_classes_and_probabilities(run, xor_csv, model_file, tmp_path):
    table = xor_table(20, seed=1)
    (tmp_path / "new.csv").write_text(csv_text(table.assign(note="x")))
    ended = run("predict", model_file, "new.csv", "--out", "p.csv")
    assert ended.code == 0
    assert ended.err.splitlines()[1:] == ["note: the model does not use 'note'."]
    said = pd.read_csv(tmp_path / "p.csv")
    assert list(said) == ["row", "prediction", "probability of ill", "probability of well"]
    assert said["row"].tolist() == list(range(1, 21))
    n_right = int((said["prediction"] == table["outcome"]).sum())
    assert ended.out.splitlines()[1].startswith(
        f"right in {n_right} of the 20 rows that have 'outcome'"
    )
    again = run("predict", model_file, "new.csv")
    assert again.out == (tmp_path / "p.csv").read_text()
    assert "right in" in again.err


def test_a_model_predicts_as_it_did_in_python(xor_csv, model_file):
    table = xor_table()
    X, y = table.drop(columns="outcome"), table["outcome"]
    expected = immigrate.ImmigrateClassifierCV().fit(X, y).predict_proba(X)
    stored = read_model(model_file)
    assert stored.target == "outcome"
    np.testing.assert_array_equal(stored.estimator.predict_proba(X), expected)


def test_names_that_look_like_numbers_are_names_in_new_tables(run, tmp_path):
    table = xor_table().replace({"red": "1", "blue": "2b"})
    (tmp_path / "old.csv").write_text(csv_text(table))
    (tmp_path / "new.csv").write_text(csv_text(table[table["group"] == "1"]))
    assert run("fit", "old.csv", "-t", "outcome", "-o", "m.model").code == 0
    whole = run("predict", "m.model", "old.csv").out.splitlines()[1:]
    part = run("predict", "m.model", "new.csv").out.splitlines()[1:]
    expected = [row for row, group in zip(whole, table["group"]) if group == "1"]
    assert [row.split(",")[1:] for row in part] == [row.split(",")[1:] for row in expected]


def test_categorical_numbers_are_names_in_fit_and_predict(run, tmp_path):
    table = xor_table().assign(site=[3, 7, 1, 20] * 20)
    (tmp_path / "t.csv").write_text(csv_text(table))
    assert run("fit", "t.csv", "-t", "outcome", "--categorical", "site", "-o", "m.model").code == 0
    reader = load_model(tmp_path / "m.model").column_reader_
    assert set(reader.levels[reader.names.index("site")]) == {"1", "3", "7", "20"}
    assert run("predict", "m.model", "t.csv").code == 0


def test_circular_columns_are_so_in_every_command(run, tmp_path):
    rng = np.random.default_rng(0)
    hour, month = rng.uniform(0, 24, 160).round(1), rng.integers(1, 13, 160)
    is_night = np.minimum(hour, 24 - hour) < 5
    table = pd.DataFrame(
        {"hour": hour, "month": month, "outcome": np.where(is_night, "ill", "well")}
    )
    table.to_csv(tmp_path / "t.csv", index=False)
    typed = ("t.csv", "-t", "outcome", "--circular", "hour=24", "--circular", "month=12")
    assert run("fit", *typed, "-o", "m.model").code == 0
    model = load_model(tmp_path / "m.model")
    np.testing.assert_array_equal(model.column_reader_.period, [24, 12])
    assert run("predict", "m.model", "t.csv").code == 0
    assert "more likely where hour is around" in run("test", *typed).out
    ended = run("report", *typed, "-o", "page.html")
    assert ended.code == 0
    assert "where hour is around" in (tmp_path / "page.html").read_text()
    assert run("compare", *typed, "--folds", "2").code == 0


def test_rows_without_a_target_are_left_out_and_counted(run, tmp_path):
    table = xor_table().assign(outcome=[None, "?", *xor_table()["outcome"][2:]])
    (tmp_path / "t.csv").write_text(csv_text(table))
    ended = run("test", "t.csv", "--target", "outcome")
    assert ended.code == 0
    assert "note: 2 of 80 rows have no value of 'outcome' and are left out.\n" in ended.err


def test_whole_numbers_beside_gaps_are_classes(run, tmp_path):
    table = xor_table()
    codes = (table["outcome"] == "ill").astype(object)
    table["outcome"] = codes.map({True: 1, False: 0}).where(table.index > 0)
    (tmp_path / "t.csv").write_text(csv_text(table))
    assert run("fit", "t.csv", "--target", "outcome", "--out", "m.model").code == 0
    ended = run("predict", "m.model", "t.csv", "--out", "p.csv")
    assert "of the 79 rows that have 'outcome'" in ended.out
    assert set(pd.read_csv(tmp_path / "p.csv")["prediction"]) <= {0, 1}


def test_options_of_the_test_reach_it(run, tmp_path):
    (tmp_path / "t.csv").write_text(csv_text(xor_table().assign(site=[3, 7, 1, 20] * 20)))
    common = ("test", "t.csv", "--target", "outcome", "--json", "e.json")
    run(*common, "--pairs", "dose:age,dose:site")
    assert json.loads((tmp_path / "e.json").read_text())["n_tests"] == 2
    run(*common, "--pairs", "dose", "--adjust-for", "group")
    content = json.loads((tmp_path / "e.json").read_text())
    assert content["n_tests"] == 2
    assert "adjusted for group" in content["methods"]
    run(*common, "--drop", "site", "--drop", "group")
    assert json.loads((tmp_path / "e.json").read_text())["n_tests"] == 1


def test_options_of_the_test_reach_the_report(run, tmp_path):
    (tmp_path / "t.csv").write_text(csv_text(xor_table()))
    common = ("report", "t.csv", "--target", "outcome", "--out", "page.html")
    ended = run(*common, "--pairs", "dose", "--adjust-for", "group")
    assert ended.code == 0
    assert "1 of 1 pair, beyond" in ended.out
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "It was adjusted for group." in page


def test_a_number_can_be_the_outcome_of_a_test(run, tmp_path):
    (tmp_path / "t.csv").write_text(csv_text(xor_table()))
    ended = run("test", "t.csv", "--target", "dose", "--outcome", "number")
    assert ended.code == 0
    assert ended.out.startswith("Which features matter: none detected among 3.\n")


def test_pairs_of_names_with_colons_and_commas():
    names = ["a:b", "c", "d, e"]
    assert chosen_pairs("a:b:c", names) == [("a:b", "c")]
    assert chosen_pairs("c:d, e,a:b:c", names) == [("c", "d, e"), ("a:b", "c")]
    assert chosen_pairs("a:b", names) == "a:b"


def test_dates_of_a_typed_file_are_left_out_and_said(run, tmp_path):
    xor_table().assign(when=pd.date_range("2021", periods=80)).to_parquet(tmp_path / "t.parquet")
    ended = run("fit", "t.parquet", "--target", "outcome", "--out", "m.model")
    assert ended.code == 0
    assert "note: Column 'when' (datetime64" in ended.err


def test_report_writes_a_page_beside_no_other_file(run, xor_csv, tmp_path):
    ended = run("report", xor_csv, "--target", "outcome")
    assert ended.code == 0
    assert [one.name for one in tmp_path.iterdir()] == ["xor-report.html"]
    assert "Which features matter? " in ended.out
    assert ended.out.endswith("report: xor-report.html\n")
    assert "xor.csv" in (tmp_path / "xor-report.html").read_text()


def test_messy_table_in_one_command(run, tmp_path):
    folder = os.environ.get("IMMIGRATE_DATA")
    if not folder:
        pytest.skip("set IMMIGRATE_DATA to the folder of tables")
    ended = run("report", Path(folder) / "messy.csv", "--target", "outcome")
    assert ended.code == 0
    assert "BMI [kg/m²] × CRP µg/ml" in ended.out
    assert "genotype (rs1801133) × smoker" in ended.out
    assert (tmp_path / "messy-report.html").exists()


def test_names_cannot_steer_the_terminal(run, tmp_path):
    table = xor_table().rename(columns={"dose": "\x1b[31mdose[bold]"})
    (tmp_path / "t.csv").write_text(csv_text(table))
    ended = run("test", "t.csv", "--target", "outcome")
    assert ended.code == 0
    assert "\x1b" not in ended.out + ended.err
    assert "dose[bold]" in ended.out


def test_compare_says_what_is_shown_and_what_is_not(run, xor_csv, tmp_path):
    ended = run("compare", xor_csv, "--target", "outcome", "--folds", "3", "--csv", "c.csv")
    assert ended.code == 0
    for name in ("ImmigrateClassifierCV", "logistic regression", "random forest"):
        assert name in ended.out
    assert "A tie is no proof that two are equal" in ended.out
    scores = pd.read_csv(tmp_path / "c.csv")
    assert scores.groupby("method").size().tolist() == [3] * 5


def comparison(**accuracies):
    scores = pd.DataFrame(
        {"method": name, "fold": fold, "accuracy": one, "log_loss": 1.0}
        for name, ones in accuracies.items()
        for fold, one in enumerate(ones)
    )
    return Comparison(scores, share=1 / 9, folds=10, repeats=1)


def test_wins_ties_and_losses_add_up():
    rng = np.random.default_rng(0)
    noise = rng.normal(scale=0.01, size=(3, 10))
    found = comparison(good=0.9 + noise[0], same=0.9 + noise[1], bad=0.5 + noise[2])
    assert found.verdicts("accuracy") == {"good": (1, 1, 0), "same": (1, 1, 0), "bad": (0, 0, 2)}
    assert found.wins("log_loss") == []
    assert "By log-loss, no method is shown to be better than another." in list(found.words())


def test_the_corrected_test_holds_its_level_where_the_plain_one_does_not():
    """Means of folds whose training sets overlap: correlation share / (1 + share)."""
    rng = np.random.default_rng(1)
    k, share = 10, 1 / 9
    rho = share / (1 + share)
    common, own = rng.normal(size=(4000, 1)), rng.normal(size=(4000, k))
    folds = np.sqrt(rho) * common + np.sqrt(1 - rho) * own
    level = np.mean([corrected_p(one, share) <= 0.05 for one in folds])
    plain = np.mean([corrected_p(one, 0.0) <= 0.05 for one in folds])
    assert level < 0.06
    assert plain > 0.08


def test_equal_scores_are_a_tie():
    assert corrected_p(np.zeros(5), 0.1) == 1.0


def test_a_wide_table_is_screened_and_that_is_said(run, tmp_path, monkeypatch):
    monkeypatch.setattr(immigrate_cv, "MOST_FEATURES_UNSCREENED", 20)
    rng = np.random.default_rng(0)
    noise = pd.DataFrame(rng.normal(size=(80, 18)).round(2)).add_prefix("g")
    (tmp_path / "t.csv").write_text(csv_text(pd.concat([noise, xor_table()], axis=1)))
    ended = run("fit", "t.csv", "--target", "outcome", "--out", "m.model")
    assert ended.code == 0
    assert "note: With 21 features the model is screened: at most 100 of them" in ended.err
    assert run("predict", "m.model", "t.csv").code == 0


def test_a_selector_predicts_nothing(run, xor_csv, tmp_path):
    table = xor_table()
    model = immigrate.ReliefF().fit(table[["dose", "age"]], table["outcome"])
    save_model(model, tmp_path / "m.model", target="outcome")
    ended = run("predict", "m.model", xor_csv)
    assert (ended.code, ended.err) == (1, "immigrate: m.model predicts nothing: ReliefF.\n")


def test_demo_runs_the_demo(run, monkeypatch):
    monkeypatch.setattr("immigrate.demo.main", lambda: print("shown"))
    ended = run("demo")
    assert (ended.code, ended.out) == (0, "shown\n")


def test_labels_that_are_names_are_compared_as_names(run, tmp_path):
    """Read as numbers, "1.50" would be 1.5 and every prediction wrong."""
    table = xor_table().replace({"ill": "1.50", "well": "2.50"})
    (tmp_path / "t.csv").write_text(csv_text(table))
    typed = ("--target", "outcome", "--outcome", "class", "--out", "m.model")
    assert run("fit", "t.csv", *typed).code == 0
    ended = run("predict", "m.model", "t.csv", "--out", "p.csv")
    right = (pd.read_csv("p.csv", dtype=str)["prediction"] == table["outcome"]).sum()
    assert right > 60
    assert f"right in {right} of the 80 rows" in ended.out
