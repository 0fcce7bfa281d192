"""Files that commands write: whole or not at all, never over what they read."""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from immigrate.cli._errors import CommandError
from immigrate.files import is_special, write_text_whole


def check_outputs(*outputs: Path | None, inputs: tuple[Path, ...]) -> None:
    """Refuse at once what could not be written in the end."""
    # Checked before the work begins: nobody should wait for a result that cannot be written.
    given = [output for output in outputs if output is not None]
    for number, output in enumerate(given):
        real = os.path.realpath(output)
        # Compared by where they lead, because two names or links may be one file.
        if real in map(os.path.realpath, inputs):
            raise CommandError(f"{output} is what is read; write to another file.")
        if real in map(os.path.realpath, given[:number]):
            raise CommandError(f"{output} is to be written twice; give two names.")
        if output.is_dir():
            raise CommandError(f"cannot write {output}: it is a folder; give the name of a file.")
        if is_special(output):
            raise CommandError(
                f"cannot write {output}: it is a device or a pipe; give the name of a file."
            )
        _check_folder(output)


def _check_folder(output: Path) -> None:
    # Folders that are not there are made; the first one that is there has to take them.
    folder = Path(os.path.realpath(output)).parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        raise CommandError(f"cannot write {output}: {folder} is a file and no folder.")
    if not os.access(folder, os.W_OK):
        raise CommandError(f"cannot write {output}: the folder {folder} is read-only.")


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """An error of the disk in one line."""
    try:
        yield
    except OSError as error:
        raise CommandError(
            f"cannot write {path}: {error.strerror or error}. Nothing was changed."
        ) from error


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Plain JSON, the same bytes for the same content; what is no number is null."""
    text = json.dumps(_plain(content), ensure_ascii=False, indent=1, allow_nan=False)
    with writing(path):
        write_text_whole(path, f"{text}\n")


def write_text(path: Path, text: str) -> None:
    """A text."""
    with writing(path):
        write_text_whole(path, text)


def _plain(value: Any) -> Any:
    """Numbers of NumPy as numbers of Python; NaN and infinities as None."""
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
