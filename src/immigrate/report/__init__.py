"""One self-contained page about a table and a label: summarise, draw, render.

    report  →  input  →  fit, test  →  panels: answers, evidence, performance, model  →  page

A panel is a stem: ``performance.py`` says what it found (``summary(context) -> dict``),
``performance.html.jinja`` and ``performance.js`` show it, and ``page.PANELS`` names it.
"""

from immigrate.report.report import Report

__all__ = ["Report"]
