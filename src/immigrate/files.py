"""Files that appear whole or not at all; values as JSON, tables as spreadsheets open them."""

from __future__ import annotations

import csv
import errno
import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

# What a spreadsheet takes for the beginning of a formula.
FORMULA_STARTS = ("=", "+", "-", "@")


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A place to write to that becomes `path` when the block ends, and vanishes if it fails.

    A full disk, an error or a killed process leaves the file that was there before.

    Parameters
    ----------
    path : str or path-like
        Folders on the way are made. A device or a pipe, such as ``/dev/null``, is refused: it
        would be replaced by a file.

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
    if target.is_dir():
        raise IsADirectoryError(
            errno.EISDIR, "this is a folder; give the name of a file in it", str(path)
        )
    if is_special(target):
        raise OSError(errno.EINVAL, "this is a device or a pipe and no file", str(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    # In the same folder, because only there is a replacement one step for every reader.
    place = target.with_name(f".{target.stem[:40]}-{uuid.uuid4().hex}{target.suffix}")
    try:
        yield place
        # On the disk before the name changes: after a power cut the content is all there.
        with place.open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(place, target)
    except BaseException:
        place.unlink(missing_ok=True)
        raise


def is_special(path: str | os.PathLike[str]) -> bool:
    """Whether something is there that is neither a file nor a folder, such as ``/dev/null``.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    bool

    Examples
    --------
    >>> import os
    >>> from immigrate.files import is_special
    >>> is_special(os.devnull), is_special("."), is_special("not-there.csv")
    (True, False, False)
    """
    return os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path))


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


def json_text(content: dict[str, Any], indent: int | None = None) -> str:
    """Plain values as JSON: the same text for the same content, in a line or in many.

    Parameters
    ----------
    content : dict
    indent : int, optional

    Returns
    -------
    str

    Examples
    --------
    >>> from immigrate.files import json_text
    >>> json_text({"name": "a", "p": [0.5, None]})
    '{"name":"a","p":[0.5,null]}'
    """
    look: Any = {"separators": (",", ":")} if indent is None else {"indent": indent}
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, **look)
    return text if indent is None else f"{text}\n"


def spreadsheet_csv(table: pd.DataFrame) -> str:
    """A table as CSV in which no name can run as a formula.

    Names come from the user's data: a column may be called ``=HYPERLINK(...)``. Such texts get an
    apostrophe in front, which spreadsheets show as text, and all texts are quoted, so that no
    separator of another country cuts one into cells. Numbers stay numbers.

    Parameters
    ----------
    table : pandas.DataFrame
        Without its index.

    Returns
    -------
    str

    Examples
    --------
    >>> import pandas as pd
    >>> from immigrate.files import spreadsheet_csv
    >>> print(spreadsheet_csv(pd.DataFrame({"name": ["=1+1", "age"], "weight": [-0.5, 1]})))
    "name","weight"
    "'=1+1",-0.5
    "age",1.0
    """
    safe = table.rename(columns=_no_formula)
    # By position: two columns may have one name.
    for j in range(table.shape[1]):
        if table.dtypes.iloc[j].kind not in "biuf":
            safe.isetitem(j, table.iloc[:, j].map(_no_formula).to_numpy())
    return safe.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")


def _no_formula(value: Any) -> Any:
    """`value`, unless it is a text that could be a formula."""
    is_formula = isinstance(value, str) and value.lstrip().startswith(FORMULA_STARTS)
    return f"'{value}" if is_formula else value
