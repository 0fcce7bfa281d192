"""What a verbose fit printed."""

from __future__ import annotations


def printed_steps(capsys):
    """Lines on the screen, without the one that says how long compiling took."""
    lines = capsys.readouterr().out.splitlines()
    return [line for line in lines if not line.startswith("immigrate compiled")]
