"""The pictures of the pages, drawn by the library itself while the site is built.

Each file of the folder drawings/ has a function `draw` that returns a figure of matplotlib. It is
saved under the name of the file in the folder pictures/, which is not tracked.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util.logging import getLogger

import immigrate

RESOLUTION = 144  # dots per inch: sharp on screens with two dots per pixel
logger = getLogger(__name__)


def draw_all(app: Sphinx) -> None:
    """Draw what is missing, or older than its script or the library."""
    import matplotlib as mpl

    mpl.use("Agg")
    folder = Path(app.srcdir) / "pictures"
    folder.mkdir(exist_ok=True)
    library = max(file.stat().st_mtime for file in package_files())
    for script in sorted((Path(app.srcdir) / "drawings").glob("[!_]*.py")):
        picture = folder / f"{script.stem}.png"
        if not picture.exists() or picture.stat().st_mtime < max(script.stat().st_mtime, library):
            logger.info("drawing %s", script.stem)
            draw(script, picture)


def package_files() -> list[Path]:
    """The sources of the library, whose change may change a picture."""
    return list(Path(immigrate.__file__).parent.rglob("*.py"))


def draw(script: Path, picture: Path) -> None:
    """Run one script and save its figure."""
    import matplotlib.pyplot as plt

    spec = importlib.util.spec_from_file_location(script.stem, script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.draw().savefig(picture, dpi=RESOLUTION, bbox_inches="tight")
    plt.close("all")


def setup(app: Sphinx) -> dict[str, bool]:
    """Draw before the first page is read."""
    app.connect("builder-inited", draw_all)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
