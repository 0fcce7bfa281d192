"""Check every link inside the built site: ``python docs/check_links.py build/docs``.

A link must lead to a file of the site, and to a place in it where it names one. Pictures, styles
and scripts must be there, and none may come from the network, so that the site works from disk.
"""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"img": "src", "script": "src", "link": "href", "source": "src", "iframe": "src"}


class Links(HTMLParser):
    """Links, loaded files and anchors of one page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        self.anchors: set[str] = {"", "#"}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag links to, loads, or is called."""
        values = dict(attrs)
        self.anchors |= {str(values[key]) for key in ("id", "name") if values.get(key)}
        if tag == "a" and values.get("href"):
            self.links.add(str(values["href"]))
        if tag in LOADED and values.get(LOADED[tag]) and values.get("rel") != "canonical":
            self.loaded.add(str(values[LOADED[tag]]))


@cache
def links_of(page: Path) -> Links:
    """What a page links to."""
    links = Links()
    links.feed(page.read_text(encoding="utf-8"))
    return links


def faults_of(page: Path) -> list[str]:
    """Links of a page that lead nowhere, and files that it would load from the network."""
    found = links_of(page)
    outside = [one for one in found.loaded if urlsplit(one).netloc]
    inside = [one for one in found.links | found.loaded if is_inside(one)]
    faults = [f"loads {one} from the network" for one in outside]
    return sorted(faults + [f"broken link {one}" for one in inside if not is_there(page, one)])


def is_inside(link: str) -> bool:
    """Whether a link stays within the site."""
    parts = urlsplit(link)
    return not parts.scheme and not parts.netloc


def is_there(page: Path, link: str) -> bool:
    """Whether the file is there, and the place in it."""
    parts = urlsplit(link)
    target = page.parent / unquote(parts.path) if parts.path else page
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return False
    if not parts.fragment or target.suffix != ".html":
        return True
    return unquote(parts.fragment) in links_of(target.resolve()).anchors


def main(site: Path) -> int:
    """Print the faults of all pages; 1 if there are any."""
    pages = [
        page for page in sorted(site.resolve().rglob("*.html")) if "_static" not in page.parts
    ]
    faults = [(page, fault) for page in pages for fault in faults_of(page)]
    for page, fault in faults:
        print(f"{page.relative_to(site.resolve())}: {fault}")
    n_links = sum(len(links_of(page).links) for page in pages)
    print(f"{len(pages)} pages, {n_links} links, {len(faults)} faults")
    return 1 if faults or not pages else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
