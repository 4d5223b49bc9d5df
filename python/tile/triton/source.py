# SPDX-License-Identifier: Apache-2.0
"""A kernel with all that it uses as one text: functions of its file and of other modules, and the present values of globals.

The functions of the kernel's file stand at the lines that they have there, if there is room, so that diagnostics have
the right places. Names that mean different things in different functions get a number."""
from __future__ import annotations

import ast
import inspect
import io
import keyword
import re
import textwrap
import tokenize
import types
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import triton
import triton.language as tl
from triton.runtime.jit import JITFunction

from .. import arguments, errors


class Text(NamedTuple):
    """The text of a kernel, its file's name, and what was read to make it: (where, name, value)."""

    text: str
    path: str
    name: str
    read: Tuple[Tuple[Dict[str, Any], str, Any], ...]


class _Function:
    """A function that goes into the text."""

    def __init__(self, function: Any, name: str, is_kernel: bool):
        self.function, self.name = function, name
        plain = function.fn if hasattr(function, "fn") else function
        self.plain = plain
        self.file = inspect.getsourcefile(plain) or ""
        if hasattr(function, "src"):
            self.source, lines = function.src, getattr(function, "raw_src", None)
            first = getattr(function, "starting_line_number", 1)
            self.line = first + next((i for i, l in enumerate(lines or ()) if re.match(r"\s*def\s", l)), 0)
        else:
            lines, first = inspect.getsourcelines(plain)
            text = textwrap.dedent("".join(lines))
            at = re.search(r"^def\s", text, re.M)
            if at is None:
                raise errors.InvalidArgument(f"`{plain.__name__}` is not a function with `def`")
            self.source = text[at.start():]
            self.line = first + text[:at.start()].count("\n")
        self.decorators = _decorators(function)
        if is_kernel:
            self.source = _annotated(self.source, function)

    def renamed(self, names: Dict[str, str]) -> str:
        return rename(self.source.rstrip() + "\n", {**names, self.plain.__name__: self.name})


_TYPES = {"u1": "int1", "i1": "int1", "fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}


def _annotated(source: str, function: Any) -> str:
    """The source with types of parameters that a decorator has set in `__annotations__`."""
    lines = source.split("\n")
    given = {p.name: getattr(p, "annotation_type", None) for p in getattr(function, "params", ())}
    arguments_ = ast.parse(source).body[0].args  # type: ignore[attr-defined]
    for a in sorted(arguments_.args, key=lambda a: (a.lineno, a.col_offset), reverse=True):
        kind = given.get(a.arg)
        if a.annotation is None and isinstance(kind, str) and kind:
            word = _TYPES.get(kind, kind.replace("i", "int") if kind[0] == "i" else kind.replace("u", "uint"))
            text = lines[a.lineno - 1].encode()
            lines[a.lineno - 1] = (text[:a.end_col_offset] + f": _tl.{word}".encode() + text[a.end_col_offset:]).decode()
    return "\n".join(lines)


def _decorators(function: Any) -> List[str]:
    if isinstance(function, JITFunction):
        return ["@_triton.jit(noinline=True)" if getattr(function, "noinline", False) else "@_triton.jit"]
    return ["@_triton.constexpr_function"] if type(function).__name__ == "ConstexprFunction" else []


def rename(source: str, names: Dict[str, str]) -> str:
    """Replaces names that are no attributes and no keywords of calls."""
    changed = {old: new for old, new in names.items() if old != new}
    if not changed:
        return source
    lines, edits, depth, before = source.split("\n"), [], 0, ""
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    for token, behind in zip(tokens, tokens[1:] + tokens[-1:]):
        depth += (token.string in "([{") - (token.string in ")]}") if token.type == tokenize.OP else 0
        is_named = behind.string == "=" and depth > 0
        if token.type == tokenize.NAME and token.string in changed and before != "." and not is_named:
            edits.append((token.start, token.string))
        before = token.string
    for (line, column), old in reversed(edits):
        text = lines[line - 1]
        lines[line - 1] = text[:column] + changed[old] + text[column + len(old):]
    return "\n".join(lines)


def _scope(function: Any) -> Dict[str, Any]:
    plain = function.fn if hasattr(function, "fn") else function
    cells = {}
    for name, cell in zip(plain.__code__.co_freevars, plain.__closure__ or ()):
        try:
            cells[name] = cell.cell_contents
        except ValueError:  # not set yet
            pass
    return {**plain.__globals__, **cells}


def _free_names(source: str) -> List[str]:
    """Names that the function reads and does not bind, in the order of the text."""
    tree = ast.parse(source)
    bound = {a.arg for f in ast.walk(tree) if isinstance(f, (ast.FunctionDef, ast.Lambda)) for a in ast.walk(f.args) if isinstance(a, ast.arg)}
    found: Dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found[node.id] = None
    return [n for n in found if n not in bound]


def _constant(value: Any, name: str) -> Optional[str]:
    """The text of a global's value; None if it is none that a text can have."""
    value = value.value if isinstance(value, tl.constexpr) else value
    if isinstance(value, float) and value != value:
        return 'float("nan")'
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return f'float("{value}")'
    if isinstance(value, tl.dtype):
        return "_tl." + arguments.constant(value, name)
    if isinstance(value, (tuple, list)):
        parts = [_constant(v, name) for v in value]
        return None if None in parts else "(" + ", ".join(parts) + ("," if len(parts) == 1 else "") + ")"  # type: ignore[arg-type]
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    return None


# ---- named tuples ----

Form = Optional[Tuple[Any, Tuple[Any, ...]]]  # of a tuple that is or contains a named one: its class or None, and the forms of its elements


def form_of(value: Any) -> Form:
    """None for a value without named tuples."""
    if not isinstance(value, (tuple, list)) or not value:
        return None
    parts = tuple(form_of(v) for v in value)
    kind = type(value) if _is_record(type(value)) else None
    return (kind, parts) if kind is not None or any(parts) else None


def _is_record(kind: Any) -> bool:
    return inspect.isclass(kind) and issubclass(kind, tuple) and hasattr(kind, "_fields")


def _with_statements(source: str, statements: List[str]) -> str:
    """The function with these statements first: in the line of its own first one where that is possible."""
    body = ast.parse(source).body[0].body  # type: ignore[attr-defined]
    is_text = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and len(body) > 1
    first = body[is_text]
    lines = source.split("\n")
    at, column = first.lineno - 1, first.col_offset
    before, own = lines[at][:column], lines[at][column:]
    is_compound = isinstance(first, (ast.If, ast.For, ast.While, ast.With, ast.FunctionDef))
    lines[at] = before + "; ".join(statements) + ("\n" + before if is_compound else "; ") + own
    return "\n".join(lines)


class _Collector:
    """Follows the names of a kernel through its helpers."""

    def __init__(self) -> None:
        self.functions: Dict[int, _Function] = {}
        self.head: Dict[str, str] = {}  # name in the text -> its line
        self.taken: Dict[str, Any] = {}  # name in the text -> what it means
        self.names: Dict[int, Dict[str, str]] = {}  # function -> its names, as the text has them
        self.read: List[Tuple[Dict[str, Any], str, Any]] = []

    def _name(self, wanted: str, meaning: Any) -> str:
        name, n = wanted, 1
        while name in self.taken and self.taken[name] != meaning:
            n += 1
            name = f"{wanted}_{n}"
        self.taken[name] = meaning
        return name

    def add(self, function: Any, is_kernel: bool = False) -> str:
        if id(function) in self.functions:
            return self.functions[id(function)].name
        plain = function.fn if hasattr(function, "fn") else function
        f = _Function(function, self._name(plain.__name__, ("function", id(function))), is_kernel)
        self.functions[id(function)] = f
        names = self.names[id(function)] = {}
        scope = _scope(function)
        for name in _free_names(f.source):
            if name in scope and not keyword.iskeyword(name):
                self._use(name, scope[name], plain.__globals__, names)
        return f.name

    def _use(self, name: str, value: Any, where: Dict[str, Any], names: Dict[str, str]) -> None:
        if isinstance(value, types.ModuleType):
            folder, dot, leaf = value.__name__.rpartition(".")
            line = f"from {folder} import {leaf} as {{}}" if dot and folder.startswith("torch.") else f"import {value.__name__} as {{}}"
            names[name] = self._line(name, ("module", value.__name__), line)
        elif isinstance(value, JITFunction) and not value.__module__.startswith("triton.language"):
            names[name] = self.add(value)
        elif _is_of_triton(value):
            module = "triton.language" if getattr(tl, getattr(value, "__name__", ""), None) is value else value.__module__
            spelled = getattr(value, "__name__", None) or value.fn.__name__
            names[name] = self._line(name, ("import", module, spelled), f"from {module} import {spelled} as {{}}")
        elif _is_record(value):
            names[name] = self.record(value)
        elif inspect.isfunction(value) or type(value).__name__ == "ConstexprFunction":
            names[name] = self.add(value)
        else:
            text = _constant(value, name)
            if text is not None:
                names[name] = self._line(name, ("value", text), f"{{}} = _tl.constexpr({text})")
                self.read.append((where, name, value))

    def record(self, kind: Any) -> str:
        """The name in the text of a class of named tuples."""
        self._line("NamedTuple", ("import", "typing", "NamedTuple"), "from typing import NamedTuple as {}")
        lines = []
        for field in kind._fields:
            default = _constant(kind._field_defaults[field], field) if field in kind._field_defaults else None
            lines.append(f"    {field}: _tl.tensor" + (f" = {default}" if default is not None else ""))
        return self._line(kind.__name__, ("record", id(kind)), "class {}(NamedTuple):\n" + "\n".join(lines or ["    pass"]))

    def made(self, name: str, form: Form) -> str:
        """An expression for a tuple of this form, from the plain tuple `name`."""
        if form is None:
            return name
        parts = ", ".join(self.made(f"{name}[{i}]", part) for i, part in enumerate(form[1]))
        return f"{self.record(form[0])}({parts})" if form[0] is not None else f"({parts},)"

    def _line(self, name: str, meaning: Any, line: str) -> str:
        new = self._name(name, meaning)
        self.head.setdefault(new, line.format(new))
        return new


def _is_of_triton(value: Any) -> bool:
    module = getattr(value, "__module__", None) or ""
    return isinstance(module, str) and module.startswith("triton.") and (callable(value) or isinstance(value, JITFunction)) and \
        not isinstance(value, (tl.dtype, tl.constexpr))


def flatten(kernel: JITFunction, others: Tuple[Any, ...] = (), forms: Tuple[Tuple[str, Form], ...] = ()) -> Tuple[Text, Dict[int, str]]:
    """The text of a kernel; `others` are functions that it gets as compile-time arguments. Their names in it by id. `forms`: parameters
    with named tuples, which the library passes as plain ones."""
    collector = _Collector()
    name = collector.add(kernel, True)
    for other in others:
        collector.add(other)
    first = collector.functions[id(kernel)]
    if forms:
        first.source = _with_statements(first.source, [f"{p} = {collector.made(p, form)}" for p, form in forms])
    near = sorted((f for f in collector.functions.values() if f.file == first.file), key=lambda f: f.line)
    far = [f for f in collector.functions.values() if f.file != first.file]
    lines = ["import triton as _triton", "import triton.language as _tl", *"\n".join(collector.head.values()).split("\n")]
    in_place = True
    for f in near + far:
        body = f.decorators + f.renamed(collector.names[id(f.function)]).rstrip("\n").split("\n")
        blank = f.line - 1 - len(f.decorators) - len(lines)
        in_place &= blank >= 0 or f not in near
        lines += [""] * (blank if f in near else 0) + body
    path = first.file if in_place else first.file + " (with what it uses)"
    return Text("\n".join(lines) + "\n", path, name, tuple(collector.read)), {i: f.name for i, f in collector.functions.items()}


def has_changed(text: Text) -> bool:
    """Whether a global that the text contains has another value now."""
    missing = object()
    for where, name, value in text.read:
        now = where.get(name, missing)
        if now is not value and now is not missing and (type(now) is not type(value) or now != value):
            return True
    return False


_ = triton  # the module is needed for its language
