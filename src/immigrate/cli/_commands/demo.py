"""``immigrate demo``: what the library finds in tables of its own."""

from __future__ import annotations

from immigrate.cli._screen import say


def demo() -> None:
    """Run the demo; it writes into a folder of its own."""
    say("the demo takes about half a minute, and more the first time.")
    from immigrate.demo import main

    main()
