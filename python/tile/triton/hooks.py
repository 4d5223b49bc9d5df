# SPDX-License-Identifier: Apache-2.0
"""Hooks that profilers and caches set: of launches (`triton.knobs.runtime.launch_enter_hook`, until Triton 3.3
`CompiledKernel.launch_enter_hook`) and of compilations (`jit_cache_hook`, `jit_post_compile_hook`; before `JITFunction.cache_hook`)."""
from __future__ import annotations

from typing import Any, Callable, Dict, Optional, Tuple

import triton
from triton.compiler import compiler as _compiler
from triton.runtime.jit import JITFunction

try:
    from triton import knobs as _knobs

    _runtime: Any = _knobs.runtime
except ImportError:  # Triton 3.3 and older
    _runtime = None

_LazyDict = getattr(_compiler, "LazyDict", None)


def _is_set(hook: Any) -> bool:
    """A chain of hooks is never None, and may be empty."""
    return hook is not None and bool(getattr(hook, "calls", True))


def launch_hooks() -> Optional[Tuple[Any, Any]]:
    """(enter, exit) of launches; None if neither is set."""
    where = _runtime if _runtime is not None else _compiler.CompiledKernel
    enter, leave = where.launch_enter_hook, where.launch_exit_hook
    if enter is None and leave is None or not (_is_set(enter) or _is_set(leave)):
        return None
    return (enter if _is_set(enter) else None), (leave if _is_set(leave) else None)


def launch_metadata(function: JITFunction, launched: Any, grid: Any, stream: int, values: Dict[str, Any]) -> Any:
    """What launch hooks get: name, function and stream, and what the kernel's own `launch_metadata` adds when a hook asks for it."""
    facts = {"name": launched.name, "function": launched.function, "stream": stream}
    if _LazyDict is None:
        return facts
    deferred = _LazyDict(facts)
    own = getattr(function, "launch_metadata", None)
    if own is not None:
        deferred.add(own, (grid, launched.metadata, values))
    return deferred


def around(hooks: Tuple[Any, Any], metadata: Any, launch: Callable[[], None]) -> None:
    """The launch between its hooks."""
    enter, leave = hooks
    if enter is not None:
        enter(metadata)
    launch()
    if leave is not None:
        leave(metadata)


# ---- compilations ----


def _compile_hooks() -> Tuple[Any, Any]:
    if _runtime is not None:
        return _runtime.jit_cache_hook, _runtime.jit_post_compile_hook
    return getattr(JITFunction, "cache_hook", None), getattr(JITFunction, "compiled_hook", None)


class Compilation:
    """One compilation, as its hooks see it. Without hooks nothing is computed."""

    def __init__(self, function: JITFunction, args: Tuple[Any, ...], named: Dict[str, Any], warmup: bool):
        self.before, self.after = _compile_hooks()
        self.function, self.warmup = function, warmup
        self.call = self._describe(args, dict(named)) if self.before or self.after else None

    def _describe(self, args: Tuple[Any, ...], named: Dict[str, Any]) -> Dict[str, Any]:
        """Key, signature, constants and options of the call, found as Triton finds them."""
        f = self.function
        named.setdefault("debug", getattr(f, "debug", None) or False)
        device = triton.runtime.driver.active.get_current_device()
        *_, target, backend, binder = f.device_caches[device]
        bound, specialization, extra = binder(*args, **named)
        options, signature, constants, attributes = f._pack_args(backend, named, bound, specialization, extra)
        facts = {"key": str(specialization) + str(extra), "signature": signature, "target": target, "device": device, "constants": constants,
                 "options": options, "configs": [attributes], "is_warmup": self.warmup}
        wanted = f._call_hook.__code__.co_varnames[:f._call_hook.__code__.co_argcount]
        return {n: v for n, v in facts.items() if n in wanted}

    def is_cancelled(self) -> bool:
        """Calls the first hook. True: it asks for neither compilation nor launch."""
        return bool(self.before and self.function._call_hook(hook=self.before, **self.call))

    def done(self) -> None:
        """Calls the hook of finished compilations."""
        if self.after:
            self.function._call_hook(hook=self.after, **self.call)
