# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of a Python library of Triton kernels with tilec instead of Triton's compiler.

usage: TILEC=build/tilec python3 -m pytest -p run_library TESTS...        with this folder and the library in PYTHONPATH

environment: TILEC         the compiler
             TILE_INCLUDE  folders for `-I`, separated by colons
             TILE_TARGET   cpu (default), or a GPU such as sm_90a, which is simulated
             TILE_CASES    most cases of one test function, chosen at random with seed 7 (default 2)
             TILE_REPORT   a JSON file: kernel -> "ok" or tilec's message

Tensors lie in the memory of the CPU. The library's own host code and references run unchanged; a launch writes
its arguments to files, runs `tilec --run --check` on the kernel's unchanged file, with the constants, the number of warps and the
grid of the launch, and writes back what changed. An autotuner takes its first configuration. Triton and PyTorch are needed,
a GPU is not. Kernels of FlagGems' generated files see the function that the library puts into the module after loading it."""
import atexit
import contextlib
import ctypes
import inspect
import json
import os
import random
import re
import subprocess
import sys
import tempfile

import numpy as np
import torch
import triton
import triton.language as tl
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

TILEC = os.environ.get("TILEC", "build/tilec")
INCLUDE = [f for f in os.environ.get("TILE_INCLUDE", "").split(":") if f]
TARGET = os.environ.get("TILE_TARGET", "cpu")
TYPES = {torch.float32: ("f32", np.float32), torch.float64: ("f64", np.float64), torch.float16: ("f16", np.float16),
         torch.bfloat16: ("bf16", np.uint16), torch.int64: ("i64", np.int64), torch.int32: ("i32", np.int32),
         torch.int16: ("i16", np.int16), torch.int8: ("i8", np.int8), torch.uint8: ("u8", np.uint8),
         torch.bool: ("i1", np.bool_), torch.uint16: ("u16", np.uint16), torch.uint32: ("u32", np.uint32),
         torch.uint64: ("u64", np.uint64), torch.float8_e4m3fn: ("f8e4nv", np.uint8), torch.float8_e5m2: ("f8e5", np.uint8)}
WORDS = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}
report = {}


class TilecError(Exception):
    pass


def memory_of(tensor):
    """A NumPy view of the storage from the tensor's first element on. Uses no operation that a library may replace."""
    name, kind = TYPES[tensor.dtype]
    whole = getattr(tensor, "_base", None) if not isinstance(tensor, torch.Tensor) else tensor
    storage = (whole if whole is not None else tensor.base).untyped_storage()
    size = storage.nbytes() - (tensor.data_ptr() - storage.data_ptr())
    if size <= 0:
        return name, np.zeros(1, kind)
    size -= size % np.dtype(kind).itemsize
    return name, np.frombuffer((ctypes.c_uint8 * size).from_address(tensor.data_ptr()), np.uint8).view(kind)


class Launch:
    """The command line of one launch."""

    def __init__(self, folder):
        self.folder, self.arrays, self.signature = folder, [], []

    def argument(self, name, v):
        if hasattr(v, "data_ptr"):
            kind, array = memory_of(v)
            file = os.path.join(self.folder, f"{len(self.arrays)}.npy")
            np.save(file, array)
            self.arrays.append((name, array, file))
            if "[" not in name:
                self.signature.append(f"{name}=*{kind}")
            return "@" + file
        if isinstance(v, (tuple, list)):
            items = [self.argument(f"{name}[{i}]", x) for i, x in enumerate(v)]
            return "(" + ",".join(items) + ("," if len(items) == 1 else "") + ")"
        return f"f32:{v!r}" if isinstance(v, float) else str(v)

    def write_back(self):
        for _, array, file in self.arrays:
            new, old = (np.load(f).reshape(-1).view(np.uint8) for f in (file + ".out.npy", file))
            changed = new != old
            array.view(np.uint8)[changed] = new[changed]


def constant(v):
    v = v.value if isinstance(v, tl.constexpr) else v
    if isinstance(v, (tuple, list)):
        return "(" + ",".join(map(constant, v)) + ("," if len(v) == 1 else "") + ")"
    if isinstance(v, JITFunction):
        return v.fn.__name__
    return WORDS.get(str(v), str(v).replace("torch.", ""))


def source_of(kernel, folder):
    """The kernel's file; where the library puts functions into a generated module, a copy that imports them."""
    path = inspect.getsourcefile(kernel.fn)
    text = open(path).read()
    imports = [f"from {f.fn.__module__} import {f.fn.__name__} as {name}\n" for name, f in kernel.fn.__globals__.items()
               if isinstance(f, JITFunction) and f.fn.__module__ != kernel.fn.__module__ and
               inspect.getsourcefile(f.fn) != path and re.search(rf"^ .*\b{name}\(", text, re.M) and
               not re.search(rf"^(from .* import .*\b{name}\b|@)", text.split(f"{name}(")[0], re.M)]
    if not imports:
        return path
    made = os.path.join(folder, os.path.basename(path))
    with open(made, "w") as out:
        out.write("".join(imports) + text)
    return made


def run(kernel, *args, grid=None, warmup=False, **named):
    values = dict(zip(kernel.arg_names, args)) | {k: v for k, v in named.items() if k in kernel.arg_names}
    for p in kernel.params:
        if p.name not in values:
            values[p.name] = p.default if p.has_default else None
    grid = grid({k: v.value if isinstance(v, tl.constexpr) else v for k, v in values.items()}) if callable(grid) else grid
    grid = (grid,) if isinstance(grid, int) else tuple(grid)
    if 0 in grid:
        return
    name = kernel.fn.__name__
    with tempfile.TemporaryDirectory() as folder:
        launch = Launch(folder)
        command = [TILEC, "--run", source_of(kernel, folder), "--kernel", name, "--color=never", "--check", "--target", TARGET]
        command += ["--simulate"] if TARGET != "cpu" else []
        for p in kernel.params:
            command += ["-D", f"{p.name}={constant(values[p.name])}"] if p.is_constexpr else [
                "--arg", f"{p.name}={launch.argument(p.name, values[p.name])}"]
        for array, _, file in launch.arrays:
            command += ["--out", f"{array}=@{file}.out.npy"]
        command += ["--signature", ",".join(launch.signature)] if launch.signature else []
        command += [word for f in INCLUDE for word in ("-I", f)]
        command += ["--num-warps", str(named["num_warps"])] if named.get("num_warps") else []
        command += ["--grid", ",".join(str(int(g)) for g in grid)]
        done = subprocess.run(command, capture_output=True, text=True)
        key = f"{inspect.getsourcefile(kernel.fn)}:{name}"
        if done.returncode:
            report[key] = done.stderr.strip()
            raise TilecError(f"{name}: {done.stderr[:1000]}")
        report.setdefault(key, "ok")
        launch.write_back()


def run_tuned(tuner, *args, **named):
    """The first configuration."""
    tuner.nargs = dict(zip(tuner.arg_names, args))
    first = tuner.configs[0]
    if first.pre_hook:
        first.pre_hook({**tuner.nargs, **named, **first.all_kwargs()})
    return tuner.fn.run(*args, **{**named, **first.kwargs, "num_warps": first.num_warps})


class Driver:
    """What host code asks of a GPU."""
    multi_processor_count, major, minor, name, total_memory, L2_cache_size = 4, 9, 0, "GPU", 1 << 34, 1 << 25

    class utils:
        get_device_properties = staticmethod(lambda d: {"max_shared_mem": 232448, "multiprocessor_count": 4,
                                                        "max_num_regs": 65536, "warpSize": 32})

    def get_current_target(self):
        from triton.backends.compiler import GPUTarget
        return GPUTarget("cuda", 90, 32)

    def get_active_torch_device(self):
        return torch.device("cpu")

    def __getattr__(self, name):  # current device and stream
        return lambda *a: 0


def pytest_collection_modifyitems(items):
    random.seed(7)
    groups = {}
    for item in items:
        groups.setdefault((item.fspath, getattr(item, "originalname", item.name)), []).append(item)
    most = int(os.environ.get("TILE_CASES", "2"))
    items[:] = [item for group in groups.values() for item in random.sample(group, min(most, len(group)))]


def replace_launches():
    driver = Driver()
    triton.runtime.driver.set_active(driver)
    for module in (torch.cpu, torch.cuda):
        module.get_device_properties = lambda *a: driver
        module.get_device_capability = lambda *a: (9, 0)
        module.get_device_name = lambda *a: driver.name
        module.current_device = lambda: 0
        module.device = lambda *a: contextlib.nullcontext()
    JITFunction.run, Autotuner.run = run, run_tuned
    entry = sys.modules.get("flag_gems.utils.libentry")  # a launcher of its own
    if entry:
        entry.LibEntry.run = lambda f, *args, **named: (f.fn.run(*args, **named), {})
        for tuner in [entry.LibTuner] + entry.LibTuner.__subclasses__():
            tuner.run = run_tuned


replace_launches()
if "flag_gems" in os.environ.get("TILE_PRELOAD", ""):
    import flag_gems  # noqa: F401
    replace_launches()
if os.environ.get("TILE_REPORT"):
    atexit.register(lambda: json.dump(report, open(os.environ["TILE_REPORT"], "w"), indent=1))
