"""The paper about the software: sections that the journal asks for, and references that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "paper" / "joss" / "paper.md").read_text(encoding="utf-8")
_, HEADER, BODY = TEXT.split("---\n", 2)
ENTRIES = re.findall(
    r"^@\w+\{(\w+),\n(.*?)^\}",
    (ROOT / "paper" / "joss" / "paper.bib").read_text(encoding="utf-8"),
    flags=re.MULTILINE | re.DOTALL,
)


@pytest.mark.parametrize(
    "section", ["Summary", "Statement of need", "State of the field", "Performance claims"]
)
def test_a_section_is_there(section):
    assert f"\n# {section}\n" in BODY


def test_citations_and_references_are_the_same():
    assert set(re.findall(r"@(\w+)", BODY)) == {key for key, _ in ENTRIES}


@pytest.mark.parametrize(("key", "fields"), ENTRIES, ids=[key for key, _ in ENTRIES])
def test_a_reference_can_be_looked_up(key, fields):
    assert re.search(r"^  (doi|url) = \{\S+\}", fields, flags=re.MULTILINE)


def test_the_header_names_a_bibliography_and_the_length_is_a_page_or_two():
    assert yaml.safe_load(HEADER)["bibliography"] == "paper.bib"
    assert 250 < len(BODY.split()) < 1000


def test_every_script_that_is_named_exists():
    scripts = re.findall(r"`(benchmarks/\S+\.py)`", BODY)
    assert scripts
    assert [script for script in scripts if not (ROOT / script).is_file()] == []
