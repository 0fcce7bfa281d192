"""A panel is a stem of files, and a line in `page.PANELS`."""

from __future__ import annotations

from pathlib import Path

import pytest

from immigrate.report import page

FOLDER = Path(page.__file__).parent


@pytest.mark.parametrize("name", page.PANELS)
def test_sections_of_a_panel_stand_in_the_template_of_its_name(name):
    template = (FOLDER / f"{name}.html.jinja").read_text("utf-8")
    for section in page.PANELS[name].SECTIONS:
        assert f'<section id="{section}"' in template


def test_every_file_is_of_a_panel_or_of_the_page():
    scripts = {path.name for path in FOLDER.glob("*.js")} - set(page.TOOLS)
    templates = {path.name for path in FOLDER.glob("*.jinja")} - {"page.html.jinja"}
    assert scripts <= {f"{name}.js" for name in page.PANELS}
    assert templates == {f"{name}.html.jinja" for name in page.PANELS}
