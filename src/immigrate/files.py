"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A place to write to that becomes `path` when the block ends, and vanishes if it fails.

    A full disk, an error or a killed process leaves the file that was there before.

    Parameters
    ----------
    path : str or path-like
        Folders on the way are made.

    Yields
    ------
    pathlib.Path
        A file in the same folder with the same ending, not there yet.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from immigrate.files import whole_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder) / "table.csv") as place:
    ...         _ = place.write_text("a,b")
    ...     (Path(folder) / "table.csv").read_text()
    'a,b'
    """
    # A link stays a link: what it points to is replaced.
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    # In the same folder, because only there is a replacement one step for every reader.
    place = target.with_name(f".{target.stem[:40]}-{uuid.uuid4().hex}{target.suffix}")
    try:
        yield place
        _flush(place)
        os.replace(place, target)
    except BaseException:
        place.unlink(missing_ok=True)
        raise


def _flush(place: Path) -> None:
    """Have the content on the disk before the name changes: after a power cut it is all there."""
    with place.open("rb+") as file:
        os.fsync(file.fileno())


def write_text_whole(path: str | os.PathLike[str], text: str) -> Path:
    """Write a text in UTF-8, all of it or nothing.

    Parameters
    ----------
    path : str or path-like
    text : str

    Returns
    -------
    pathlib.Path
        Where it is.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from immigrate.files import write_text_whole
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text_whole(Path(folder) / "page.html", "<p>").read_text()
    '<p>'
    """
    with whole_file(path) as place:
        # Encoded first: a text that has no encoding must not begin to be written.
        place.write_bytes(text.encode("utf-8"))
    return Path(path)
