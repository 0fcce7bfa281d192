"""Every small change of a source file that a test should notice.

====================  ===========================================================================
comparison            turned round; of whole numbers ``<`` and ``<=`` swapped, ``>`` and ``>=``
arithmetic            ``+`` and ``-`` swapped, ``*`` and ``/``; a sign, ``~`` or ``not`` dropped
number                1 more, twice as large, or 10,000 times if it is tiny; True and False swapped
condition             negated; ``and`` and ``or`` swapped; ``break`` and ``continue`` dropped
name                  ``min`` and ``max`` swapped, ``any`` and ``all``, ``zeros`` and ``ones``, ...
slice                 begins one later, ends one earlier
call                  ``f(x, ...)`` replaced by ``x`` where it is assigned or returned
statement             a call whose value nobody uses is dropped
====================  ===========================================================================

A mutant is a piece of text in place of another one, so that all other lines stay where they are.
Annotations, docstrings and the words of errors are left alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

COMPARED = {
    ast.Lt: ("<", ("<=", ">=")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<=")),
    ast.GtE: (">=", (">", "<")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: ("is not", ("is",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
}
COMPUTED = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
}
SWAPPED = {
    "min": "max",
    "minimum": "maximum",
    "fmin": "fmax",
    "argmin": "argmax",
    "any": "all",
    "zeros": "ones",
    "zeros_like": "ones_like",
    "floor": "ceil",
    "mean": "sum",
    "sin": "cos",
    "exp": "expm1",
    "log": "log1p",
    "left": "right",
}
SWAPPED |= {two: one for one, two in SWAPPED.items()}
# Calls that change the type of a value and not the value; names of classes begin with a capital.
CONVERSIONS = ("float", "int", "bool", "list", "tuple", "asarray", "ascontiguousarray", "cls")
# Keywords that decide how something is computed or printed, and not what comes out.
OPTIONS = ("repr", "check_finite", "overwrite_a", "optimize", "copy", "return_as")
TINY, FACTOR = 1e-3, 1e4


@dataclass(frozen=True)
class Mutant:
    """A change of one file.

    Attributes
    ----------
    file : str
        Path in the package.
    function : str
        The outermost function or method around it, empty for what runs at import.
    line : int
    kind : str
    start, end : int
        Bytes of the file that are replaced.
    text : str
        What stands there instead.
    before, after : str
        The line, as it was and as it is.
    """

    file: str
    function: str
    line: int
    kind: str
    start: int
    end: int
    text: str
    before: str
    after: str

    def planted(self, source: bytes) -> bytes:
        """The file with the mutant in it."""
        return source[: self.start] + self.text.encode() + source[self.end :]

    def __str__(self) -> str:
        where = f"{self.file}:{self.line} {self.function or 'at import'}"
        return f"{where}: {self.kind}: `{self.before}` -> `{self.after}`"


def mutants_of(file: str, source: bytes) -> list[Mutant]:
    """All mutants of one file, in the order of its text."""
    visitor = _Sites(source)
    visitor.visit(ast.parse(source))
    found = []
    for node_line, function, kind, start, end, text in sorted(visitor.sites):
        head = source[:start].rsplit(b"\n", 1)[-1]
        before = head + source[start:].split(b"\n", 1)[0]
        after = head + text.encode() + source[end:].split(b"\n", 1)[0]
        lines = (before.decode().strip(), " ".join(after.decode().split()))
        found.append(Mutant(file, function, node_line, kind, start, end, text, *lines))
    return found


class _Sites(ast.NodeVisitor):
    """Walks a file and notes where it can be changed, and into what."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        starts = [0]
        for line in source.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        self.starts = starts
        self.scope: list[str] = []
        self.n_functions = 0
        self.sites: list[tuple[int, str, str, int, int, str]] = []

    def begin(self, node: ast.AST) -> int:
        return self.starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]

    def end(self, node: ast.AST) -> int:
        return self.starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]

    def text(self, node: ast.AST) -> str:
        return self.source[self.begin(node) : self.end(node)].decode()

    def note(self, node: ast.AST, kind: str, text: str, start: int = -1, end: int = -1) -> None:
        start = self.begin(node) if start < 0 else start
        end = self.end(node) if end < 0 else end
        function = ".".join(self.scope) if self.n_functions else ""
        line = self.source[:start].count(b"\n") + 1
        self.sites.append((line, function, kind, start, end, text))

    def operator(self, kind: str, left: ast.AST, right: ast.AST, old: str, new: str) -> None:
        """Replace the operator between two operands."""
        first, last = self.end(left), self.begin(right)
        between = self.source[first:last].decode()
        pattern = rf"\b{old}\b" if old[0].isalpha() else re.escape(old)
        match = re.search(pattern.replace(" ", r"\s+"), between)
        if match:
            self.note(left, kind, new, first + match.start(), first + match.end())

    # Where nothing is changed.
    def visit_Raise(self, node: ast.Raise) -> None: ...
    def visit_Assert(self, node: ast.Assert) -> None: ...
    def visit_Import(self, node: ast.Import) -> None: ...
    def visit_ImportFrom(self, node: ast.ImportFrom) -> None: ...
    def visit_JoinedStr(self, node: ast.JoinedStr) -> None: ...

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if any(isinstance(base, ast.Name) and base.id == "Protocol" for base in node.bases):
            return
        self.scope.append(node.name)
        for part in [*node.keywords, *node.body]:
            self.visit(part)
        self.scope.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self.visit(default)
        self._inside(node.name, node.body)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._inside("<lambda>", [node.body])

    def _inside(self, name: str, body: list[ast.stmt] | list[ast.expr]) -> None:
        if not self.n_functions:
            self.scope.append(name)
        self.n_functions += 1
        for part in body:
            self.visit(part)
        self.n_functions -= 1
        if not self.n_functions:
            self.scope.pop()

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._assigned(node.target, node.value)
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        if len(node.targets) == 1:
            self._assigned(node.targets[0], node.value)
        for target in node.targets:
            self.visit(target)
        self.visit(node.value)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None:
            self._without_call(node.value)
            self.visit(node.value)

    def _assigned(self, target: ast.expr, value: ast.expr) -> None:
        """``x = f(x)``: the call dropped, where the value may stand for itself."""
        if isinstance(target, ast.Name):
            self._without_call(value)

    def _without_call(self, value: ast.expr) -> None:
        is_function = isinstance(value, ast.Call) and bool(value.args)
        if is_function and isinstance(value.args[0], ast.Name | ast.BinOp | ast.Call):
            name = self.text(value.func).rsplit(".", 1)[-1]
            if name not in CONVERSIONS and not name[0].isupper():
                self.note(value, "call", self.text(value.args[0]))

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self.note(node, "statement", "pass")
            self.visit(node.value)
        elif isinstance(node.value, ast.Yield):
            self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        old, new = COMPUTED.get(type(node.op), ("", ""))
        if old:
            self.operator("arithmetic", node.target, node.value, f"{old}=", f"{new}=")
        self.visit(node.value)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        old, new = COMPUTED.get(type(node.op), ("", ""))
        if old:
            self.operator("arithmetic", node.left, node.right, old, new)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        left = node.left
        for op, right in zip(node.ops, node.comparators):
            old, news = COMPARED[type(op)]
            is_close = len(news) == 2 and not (_is_counted(left) or _is_counted(right))
            for new in news[is_close:]:
                self.operator("comparison", left, right, old, new)
            left = right
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:]):
            self.operator("condition", left, right, old, new)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.UAdd) or _is_number(node):
            return
        kind = "condition" if isinstance(node.op, ast.Not) else "arithmetic"
        sign = "not" if kind == "condition" else "-"
        self.note(node, kind, "", end=self.begin(node) + len(sign))
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        self._negated(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._negated(node.test)
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        if not isinstance(node.test, ast.Constant):
            self._negated(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._negated(test)
        self.generic_visit(node)

    def _negated(self, test: ast.expr) -> None:
        # A single comparison turned round is among the comparisons already.
        if not (isinstance(test, ast.Compare) and len(test.ops) == 1):
            self.note(test, "condition", f"not ({self.text(test)})")

    def visit_Break(self, node: ast.Break) -> None:
        self.note(node, "condition", "pass")

    def visit_Continue(self, node: ast.Continue) -> None:
        self.note(node, "condition", "pass")

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and node.id in ("min", "max", "any", "all"):
            self.note(node, "name", SWAPPED[node.id])

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr in SWAPPED:
            start = self.end(node) - len(node.attr)
            self.note(node, "name", SWAPPED[node.attr], start)
        self.visit(node.value)

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg in OPTIONS:
            return
        is_axis = node.arg == "axis" and _is_number(node.value)
        if is_axis:
            self.note(node.value, "number", "1" if self.text(node.value) == "0" else "0")
        else:
            self.visit(node.value)

    def visit_Slice(self, node: ast.Slice) -> None:
        if node.lower is not None:
            self.note(node.lower, "slice", f"({self.text(node.lower)}) + 1")
        if node.upper is not None:
            self.note(node.upper, "slice", f"({self.text(node.upper)}) - 1")
        for part in (node.lower, node.upper, node.step):
            if part is not None and not _is_number(part):
                self.visit(part)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self.note(node, "number", str(not value))
        elif isinstance(value, int):
            self.note(node, "number", str(value + 1))
        elif isinstance(value, float):
            self.note(node, "number", repr(_changed(value)))
        elif value in ("left", "right"):
            self.note(node, "name", f'"{SWAPPED[value]}"')


def _changed(value: float) -> float:
    """Another number: a tolerance has to be wrong by more than a factor of 2 to be wrong."""
    if value == 0:
        return 1.0
    return value * (FACTOR if abs(value) < TINY else 2)


def _is_counted(node: ast.expr) -> bool:
    """Whether a side of a comparison is a whole number, where one more or less is a difference.

    Between other numbers ``<`` and ``<=`` differ at exact ties only, which nobody promises.
    """
    if isinstance(node, ast.BinOp):
        is_quotient = isinstance(node.op, ast.Div)
        return not is_quotient and (_is_counted(node.left) or _is_counted(node.right))
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "len"
    if isinstance(node, ast.Subscript):
        return _is_counted(node.value)
    if isinstance(node, ast.Name | ast.Attribute):
        name = node.id if isinstance(node, ast.Name) else node.attr
        return name.startswith("n_") or name in ("size", "shape", "count")
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub) and _is_number(node.operand)
    is_constant = isinstance(node, ast.Constant)
    return is_constant and isinstance(node.value, int | float)


def numbered(files: dict[str, bytes]) -> Iterator[tuple[int, Mutant]]:
    """All mutants of some files with their numbers."""
    everything = (m for file, source in sorted(files.items()) for m in mutants_of(file, source))
    return enumerate(everything)
