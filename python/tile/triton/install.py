# SPDX-License-Identifier: Apache-2.0
"""Puts Tile under Triton: replaces JITFunction.run on the class, which catches functions that were imported earlier and
those under autotuners and heuristics, and the measuring of configurations on the CPU, where times mean nothing."""
from __future__ import annotations

from typing import Any, Dict, Optional

import triton
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from .. import binding, devices, errors
from . import launch

_originals: Optional[Dict[str, Any]] = None
_said: Dict[int, None] = {}


def installed() -> bool:
    """Whether launches go to Tile."""
    return _originals is not None


def install(check: bool = False, fallback: bool = True, inductor: bool = False) -> None:
    """From now on `@triton.jit` functions run by Tile.

    check: launches on CPU tensors detect accesses outside of tensors and races, and then raise tile.CheckFailed.
    fallback: what Tile refuses runs in Triton if its tensors are on a GPU, with a line on the logger `tile.triton`; else it raises.
    inductor: `triton.compile` compiles by Tile too, which TorchInductor calls for its kernels. Its static launcher, which loads cubins, and
    its worker processes, which do not know of Tile, are switched off.

    Without a GPU Triton gets a driver that says "cpu", so that programs which ask for the current device run."""
    global _originals
    binding.lib()
    uninstall()
    _originals = {"run": JITFunction.run, "_bench": Autotuner._bench, "driver": None}

    def run(self: Any, *args: Any, grid: Any, warmup: bool, **named: Any) -> Any:
        if _is_gluon(self):
            return original(self, *args, grid=grid, warmup=warmup, **named)
        try:
            return launch.run(self, args, named, grid, warmup, check)
        except (errors.CompileError, errors.LimitError, errors.InternalError) as e:
            if not fallback or not _is_on_gpu(self, args, named):
                raise
            _say(self, e)
        return original(self, *args, grid=grid, warmup=warmup, **named)

    original = JITFunction.run
    JITFunction.run = run
    Autotuner._bench = _bench
    if inductor:
        _originals["compile"] = _set_compile(fallback)
    if not devices.device_count():
        _originals["driver"] = _set_driver()


def uninstall() -> None:
    """Triton as it was."""
    global _originals
    if _originals is None:
        return
    JITFunction.run, Autotuner._bench = _originals["run"], _originals["_bench"]
    for what in ("driver", "compile"):
        if _originals.get(what) is not None:
            _originals[what]()
    _originals = None


def _set_compile(fallback: bool) -> Any:
    """Replaces `triton.compile`; returns a function that undoes it."""
    from triton.compiler import ASTSource

    from .compiled import compile_source

    original = triton.compile

    def compile_by_tile(src: Any, *args: Any, **named: Any) -> Any:
        if type(src) is not ASTSource or _is_gluon(src.fn):
            return original(src, *args, **named)
        options = named.get("options", args[1] if len(args) > 1 else None)
        try:
            return compile_source(src, options)
        except (errors.CompileError, errors.InvalidArgument, errors.LimitError, errors.InternalError) as e:
            if not fallback or not devices.device_count():
                raise
            _say(src.fn, e)
        return original(src, *args, **named)

    triton.compile = compile_by_tile
    undo = [lambda: setattr(triton, "compile", original)]
    try:
        from torch._inductor import config
    except ImportError:
        return undo[0]
    for name, value in (("use_static_triton_launcher", False), ("use_static_cuda_launcher", False), ("compile_threads", 1)):
        if hasattr(config, name):
            undo.append(lambda name=name, before=getattr(config, name): setattr(config, name, before))
            setattr(config, name, value)
    return lambda: [f() for f in undo]


def _is_gluon(function: Any) -> bool:
    asked = getattr(function, "is_gluon", None)
    return bool(asked and asked())


def _is_on_gpu(function: Any, args: Any, named: Any) -> bool:
    device = launch.device_of(launch.bind(function, args, named)[0])
    return bool(device and device.startswith("cuda"))


def _say(function: Any, error: errors.Error) -> None:
    if id(function) not in _said:
        _said[id(function)] = None
        launch.log.warning("kernel `%s` runs in Triton: %s", function.__name__, str(error).split("\n")[0])


def _bench(self: Any, *args: Any, config: Any, **meta: Any) -> Any:
    """On a GPU Triton's. On the CPU the first configuration that compiles wins; nothing is launched."""
    assert _originals is not None
    device = launch.device_of({**dict(zip(self.arg_names, args)), **meta})
    if device is not None and device != "cpu":
        return _originals["_bench"](self, *args, config=config, **meta)
    try:
        self.fn.run(*args, **{**meta, **config.all_kwargs(), "warmup": True})
    except (errors.CompileError, errors.LimitError):
        return [float("inf")] * 3
    return [float(self.configs.index(config)) if config in self.configs else 0.0] * 3


# ---- without a GPU ----


class _Driver:
    """What programs ask of a GPU's driver: a made-up device whose tensors are on the CPU."""

    class utils:
        """Queries of the made-up device."""

        @staticmethod
        def get_device_properties(device: int) -> Dict[str, int]:
            return {"max_shared_mem": 232448, "multiprocessor_count": 4, "max_num_regs": 65536, "warpSize": 32, "sm_clock_rate": 1, "mem_clock_rate": 1,
                    "mem_bus_width": 1}

    def get_current_target(self) -> Any:
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", 90, 32)

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int = 0) -> int:
        return 0

    def set_current_device(self, device: int) -> None:
        pass

    def get_device_interface(self) -> Any:
        import torch

        return torch.cpu

    def get_benchmarker(self) -> Any:
        raise errors.NoDevice("times of launches on the CPU say nothing of a GPU's")

    @staticmethod
    def is_active() -> bool:
        return True


def _set_driver() -> Any:
    """Sets the driver; returns a function that undoes it."""
    drivers = triton.runtime.driver
    before = getattr(drivers, "_active", None)
    drivers.set_active(_Driver())
    return lambda: setattr(drivers, "_active", before)
