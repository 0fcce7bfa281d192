"""Formulas as MathML, which browsers draw by themselves: no script, no network, no LaTeX."""

from __future__ import annotations

from typing import Any

from docutils.nodes import SkipNode, math, math_block
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx


def inline(translator: Any, node: math) -> None:
    """A formula within a sentence."""
    translator.body.append(tex2mathml(node.astext()))
    raise SkipNode


def block(translator: Any, node: math_block) -> None:
    """A formula on lines of its own."""
    formula = tex2mathml(node.astext(), as_block=True)
    translator.body.append(f'<div class="formula">{formula}</div>')
    raise SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer that `html_math_renderer` names."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
