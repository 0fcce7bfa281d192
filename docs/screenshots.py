"""Pictures of the built site: ``python docs/screenshots.py build/docs docs/figures``.

Start page, a page of the gallery and one of the reference, on a desk and on a phone. They need
Chromium.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

PAGES = {
    "start": "index.html",
    "gallery": "gallery/plot_01_pair_in_ten_lines.html",
    "reference": "reference/immigrate.InteractionTest.html",
}
WIDTHS = (1280, 390)
HEIGHT = 1250
N_COLOURS = 128


def shoot(page: Path, width: int, picture: Path) -> None:
    """One picture; what a page draws wider than the window would be cut off in it."""
    with tempfile.TemporaryDirectory() as profile:
        command = ["chromium", "--headless=new", "--no-sandbox", "--hide-scrollbars"]
        command += [f"--user-data-dir={profile}", f"--window-size={width},{HEIGHT}"]
        command += [f"--screenshot={picture}", page.resolve().as_uri()]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
    image = Image.open(picture).convert("RGB")
    image.quantize(N_COLOURS, dither=Image.Dither.NONE).save(picture, optimize=True)


def main(site: Path, folder: Path) -> None:
    """All pages at all widths."""
    for name, page in PAGES.items():
        for width in WIDTHS:
            picture = folder.resolve() / f"site-{name}-{width}.png"
            shoot(site / page, width, picture)
            print(picture.name, f"{picture.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
