# SPDX-License-Identifier: Apache-2.0
"""Symbolic sizes: expressions of SymInts as Python functions of symbol values, where a graph's inputs give these values, and
what PyTorch knows of the symbols. Nothing here compares SymInts, which would add guards."""
from __future__ import annotations

import math
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

import torch

MOST = (1 << 31) - 1  # the largest size of the library


def is_symbolic(x: Any) -> bool:
    return isinstance(x, (torch.SymInt, torch.SymFloat, torch.SymBool))


def expr_of(x: Any) -> Any:
    """The sympy expression of a symbolic number; a number is itself."""
    return x.node.expr if is_symbolic(x) else x


def symbols_of(numbers: Iterable[Any]) -> Dict[str, Any]:
    """Name -> symbol of all free symbols."""
    found: Dict[str, Any] = {}
    for x in numbers:
        if is_symbolic(x):
            for s in x.node.expr.free_symbols:
                found[str(s)] = s
    return found


def is_unbacked(x: Any) -> bool:
    """Depends on a number that is known at run time only (`u0`)."""
    return is_symbolic(x) and any(str(s).startswith(("u", "zuf")) for s in x.node.expr.free_symbols)


def numbers_of(value: Any) -> List[Any]:
    """The sizes in a node's value: of a tensor its shape, strides and offset; of tuples those of their parts."""
    if isinstance(value, torch.Tensor):
        if value.layout is not torch.strided:
            return list(value.shape)
        return list(value.shape) + list(value.stride()) + [value.storage_offset()]
    if isinstance(value, (tuple, list)):
        return [n for part in value for n in numbers_of(part)]
    return [value] if is_symbolic(value) else []


class Evaluator:
    """Evaluates lists of sizes, given values of symbols by name."""

    def __init__(self) -> None:
        from torch.utils._sympy.printers import PythonPrinter

        self._print = PythonPrinter().doprint

    def function(self, numbers: Iterable[Any]) -> Callable[[Dict[str, int]], Tuple[Any, ...]]:
        """A function from symbol values to the numbers' values. Constant lists cost nothing."""
        numbers = list(numbers)
        if not any(is_symbolic(n) for n in numbers):
            fixed = tuple(numbers)
            return lambda values: fixed
        text = "(" + "".join(self._print(expr_of(n)) + ", " if is_symbolic(n) else f"{n!r}, " for n in numbers) + ")"
        code = compile(text, "<sizes>", "eval")
        scope = {"math": math, "torch": torch, "__builtins__": {"min": min, "max": max, "int": int, "float": float, "abs": abs, "round": round,
                                                                "True": True, "False": False}}
        return lambda values: eval(code, scope, values)


Source = Tuple[int, Optional[int]]  # of a symbol: the input's index, and its dimension (None: the input is the number)


def sources(symbols: Iterable[str], inputs: List[Any]) -> Optional[Dict[str, Source]]:
    """Where the inputs' values give the symbols; None if they leave one open."""
    found: Dict[str, Source] = {}
    for i, value in enumerate(inputs):
        if isinstance(value, torch.SymInt) and value.node.expr.is_symbol:
            found.setdefault(str(value.node.expr), (i, None))
    for i, value in enumerate(inputs):
        for dim, n in enumerate(value.shape if isinstance(value, torch.Tensor) else ()):
            if isinstance(n, torch.SymInt) and n.node.expr.is_symbol:
                found.setdefault(str(n.node.expr), (i, dim))
    wanted = list(symbols)
    return {s: found[s] for s in wanted} if all(s in found for s in wanted) else None


def _bound(n: Any, otherwise: int) -> int:
    is_number = isinstance(n, int) or getattr(n, "is_Integer", False)  # else int_oo
    return max(0, min(int(n), MOST)) if is_number else otherwise


def shape_env_of(values: Iterable[Any]) -> Any:
    for x in values:
        for n in numbers_of(x):
            if is_symbolic(n):
                return n.node.shape_env
    return None


def _range(symbol: Any, shape_env: Any) -> Tuple[int, int]:
    r = shape_env.var_to_range.get(symbol) if shape_env is not None else None
    return (_bound(r.lower, 0), _bound(r.upper, MOST)) if r is not None else (0, MOST)


def possible(symbols: Dict[str, Any], shape_env: Any) -> Dict[str, int]:
    """A value that each symbol may have."""
    return {name: _range(symbol, shape_env)[0] for name, symbol in symbols.items()}


def ranges(symbols: Dict[str, Any], shape_env: Any) -> str:
    """The line by which the library learns the symbols' ranges; "" without symbols."""
    parts = []
    for name, symbol in sorted(symbols.items()):
        low, high = _range(symbol, shape_env)
        parts.append(f"{name}: VR[{low}, {high}]")
    return "\nRange constraints: {" + ", ".join(parts) + "}\n" if parts else ""


def hints(symbols: Dict[str, Any], shape_env: Any) -> Dict[str, int]:
    """The sizes of the call that compiles."""
    if shape_env is None:
        return {}
    known: Any = None
    for name in ("backed_var_to_val", "var_to_val"):
        known = getattr(shape_env, name, None)
        if known is not None:
            break
    found = {}
    for name, symbol in symbols.items():
        value = (known or {}).get(symbol)
        if value is not None and 0 <= int(value) <= MOST:
            found[name] = int(value)
    return found
