"""The files around the code agree with one another: version, workflows, hooks, templates."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest
import yaml

import immigrate

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = [*sorted((ROOT / ".github").rglob("*.yml")), ROOT / ".pre-commit-config.yaml"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MAKE_TARGETS = set(
    re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
)


def read(file: Path) -> dict:
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def jobs(workflow: Path):
    return read(workflow)["jobs"].values()


def steps(workflow: Path):
    return [step for job in jobs(workflow) for step in job["steps"]]


@pytest.fixture(scope="module")
def release():
    spec = importlib.util.spec_from_file_location("release", ROOT / "scripts" / "release.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_version_changelog_and_citation_agree(release):
    release.check_files()
    assert release.version() == immigrate.__version__


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("CITATION.cff", "date-released: ", "date-released: 1999-01-01 # "),
        ("CITATION.cff", "version: 0", "version: 7"),
        ("CHANGELOG.md", "## [0", "## [7"),
        ("src/immigrate/_version.py", '"0', '"7'),
    ],
)
def test_a_disagreement_stops_a_release(release, name, old, new, tmp_path, monkeypatch):
    for file in ("CITATION.cff", "CHANGELOG.md", "src/immigrate/_version.py"):
        copy = tmp_path / file
        copy.parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / file).read_text(encoding="utf-8")
        copy.write_text(text.replace(old, new) if file == name else text, encoding="utf-8")
    monkeypatch.setattr(release, "ROOT", tmp_path)
    with pytest.raises(release.NotReadyError):
        release.check_files()


@pytest.mark.parametrize("file", FORMS, ids=lambda file: file.name)
def test_the_file_is_yaml(file):
    assert isinstance(read(file), dict)


def test_the_workflows_use_the_pythons_of_the_project():
    newest = next(read(file)["jobs"]["newest"] for file in WORKFLOWS if file.stem == "tests")
    tried = newest["strategy"]["matrix"]["python-version"]
    said = [line.rsplit(" ", 1)[1] for line in PROJECT["classifiers"] if " :: 3." in line]
    # A Python that only the workflow has run with is not promised before it has.
    assert tried[: len(said)] == said
    assert len(tried) <= len(said) + 1
    assert PROJECT["requires-python"] == f">={tried[0]}"


def test_the_workflows_try_three_systems():
    systems = {
        name
        for file in WORKFLOWS
        for job in jobs(file)
        for name in job.get("strategy", {}).get("matrix", {}).get("os", [job["runs-on"]])
    }
    assert {"ubuntu-latest", "macos-latest", "windows-latest"} <= systems


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_the_workflow_calls_what_is_there(file):
    commands = "\n".join(step.get("run", "") for step in steps(file))
    called = set(re.findall(r"\bmake ([\w-]+)", commands))
    for job in jobs(file):
        called |= set(job.get("strategy", {}).get("matrix", {}).get("target", []))
    assert called
    assert called <= MAKE_TARGETS
    for script in re.findall(r"python (scripts/\S+)", commands):
        assert (ROOT / script).is_file()


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_a_job_cannot_run_for_ever_or_write(file):
    assert read(file)["permissions"] == {"contents": "read"}
    assert all("timeout-minutes" in job for job in jobs(file))
    assert all(re.search(r"@v\d+$", step["uses"]) for step in steps(file) if "uses" in step)


def test_hooks_work_in_a_fresh_clone():
    (repository,) = read(ROOT / ".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    for hook in repository["hooks"]:
        assert hook["language"] == "python"
        assert hook["additional_dependencies"]
        assert all(re.search(r"==[\d.]+$", one) for one in hook["additional_dependencies"])


def test_every_target_is_phony_or_a_file():
    text = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    phony = set(re.findall(r"^\.PHONY: (.*)$", text, flags=re.MULTILINE)[0].split())
    assert phony == MAKE_TARGETS


def test_the_index_of_benchmarks_names_each_script_once():
    folder = ROOT / "benchmarks"
    listed = re.findall(r"\]\((\w+/\w+\.py)\)", (folder / "README.md").read_text())
    assert sorted(listed) == sorted(
        file.relative_to(folder).as_posix() for file in folder.glob("*/*.py")
    )
