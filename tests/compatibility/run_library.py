# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of a Python library of Triton kernels with tilec instead of Triton's compiler.

usage: TILEC=build/tilec python3 -m pytest -p run_library TESTS...        with this folder and the library in PYTHONPATH

environment: TILEC         the compiler
             TILE_INCLUDE  folders for `-I`, separated by colons
             TILE_TARGET   cpu (default), or a GPU such as sm_90a, which is simulated
             TILE_CASES    most cases of one test function, chosen at random with seed 7 (default 2)
             TILE_REPORT   a JSON file: kernel -> "ok" or tilec's message
             TILE_RECORD   a folder: launches are not run, but written to `launches.jsonl` there, for survey.py --launches

Tensors lie in the memory of the CPU. The library's own host code and references run unchanged; a launch writes
its arguments to files, runs `tilec --run --check` on the kernel's unchanged file, with the constants, the number of warps and the
grid of the launch, and writes back what changed. An autotuner takes its first configuration. Triton and PyTorch are needed,
a GPU is not. Kernels of FlagGems' generated files see the function that the library puts into the module after loading it."""
import atexit
import ctypes
import hashlib
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

import cuda_on_cpu

TILEC = os.environ.get("TILEC", "build/tilec")
INCLUDE = [f for f in os.environ.get("TILE_INCLUDE", "").split(":") if f]
RECORD = os.environ.get("TILE_RECORD")
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
    if isinstance(v, str) and '"' not in v:
        return f'"{v}"'
    return WORDS.get(str(v), str(v).replace("torch.", ""))


def source_of(kernel, folder):
    """The kernel's file; where the library puts functions into a generated module, a copy that imports them, and these functions."""
    path = inspect.getsourcefile(kernel.fn)
    text = open(path).read()
    functions = {name: f.fn for name, f in kernel.fn.__globals__.items()
                 if isinstance(f, JITFunction) and f.fn.__module__ != kernel.fn.__module__ and
                 inspect.getsourcefile(f.fn) != path and re.search(rf"^ .*\b{name}\(", text, re.M) and
                 not re.search(rf"^(from .* import .*\b{name}\b|@)", text.split(f"{name}(")[0], re.M)}
    if not functions:
        return path, []
    text = "".join(f"from {f.__module__} import {f.__name__} as {name}\n" for name, f in functions.items()) + text
    made = os.path.join(folder, f"{os.path.basename(path)[:-3]}_{hashlib.sha256(text.encode()).hexdigest()[:8]}.py")
    with open(made, "w") as out:
        out.write(text)
    return made, [f"{inspect.getsourcefile(f)}:{f.__name__}" for f in functions.values()]


def hint(v):
    return ":1" if v == 1 else ":16" if v % 16 == 0 else ""


def type_of(v):
    """The type of an argument, as --signature takes it."""
    if v is None:
        return "None"
    if hasattr(v, "data_ptr"):
        return f"*{TYPES[v.dtype][0]}{':16' if v.data_ptr() % 16 == 0 else ''}"
    if isinstance(v, bool):
        return "i1"
    if isinstance(v, int):
        return ("i32" if -2**31 <= v < 2**31 else "i64" if v < 2**63 else "u64") + hint(v)
    if isinstance(v, float):
        return "f32"
    if isinstance(v, (tuple, list)):
        return "(" + ",".join(map(type_of, v)) + ("," if len(v) == 1 else "") + ")"
    if hasattr(v, "block_shape"):
        return f"tensordesc[{TYPES[v.base.dtype][0]},{'x'.join(map(str, v.block_shape))}]"
    return type(v).__name__


def parameter(p, v):
    """A parameter as --signature takes it: a declared integer has that type, whatever is passed."""
    if isinstance(v, int) and re.match(r"[iu]\d+$", p.annotation_type):
        return f"{p.name}={p.annotation_type.replace('u1', 'i1')}{'' if isinstance(v, bool) else hint(v)}"
    return f"{p.name}={type_of(v)}"


def record(kernel, values, named, recorded=set()):
    """Appends a launch to the record, once for each specialisation."""
    os.makedirs(RECORD, exist_ok=True)
    path, functions = source_of(kernel, RECORD)
    line = json.dumps({
        "file": path, "kernel": kernel.fn.__name__, "functions": functions, "at": inspect.getsourcefile(kernel.fn),
        "constants": {p.name: constant(values[p.name]) for p in kernel.params if p.is_constexpr},
        "signature": ",".join(parameter(p, values[p.name]) for p in kernel.params if not p.is_constexpr),
        "warps": named.get("num_warps"), "stages": named.get("num_stages"), "alternative": named.get("alternative", 0)})
    if line not in recorded:
        recorded.add(line)
        with open(os.path.join(RECORD, "launches.jsonl"), "a") as out:
            out.write(line + "\n")


def run(kernel, *args, grid=None, warmup=False, **named):
    values = dict(zip(kernel.arg_names, args)) | {k: v for k, v in named.items() if k in kernel.arg_names}
    for p in kernel.params:
        if p.name not in values:
            values[p.name] = p.default if p.has_default else None
    if RECORD:
        return record(kernel, values, named)
    grid = grid({k: v.value if isinstance(v, tl.constexpr) else v for k, v in values.items()}) if callable(grid) else grid
    grid = (grid,) if isinstance(grid, int) else tuple(grid)
    if 0 in grid:
        return
    name = kernel.fn.__name__
    with tempfile.TemporaryDirectory() as folder:
        launch = Launch(folder)
        command = [TILEC, "--run", source_of(kernel, folder)[0], "--kernel", name, "--color=never", "--check", "--target", TARGET]
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
    """The first configuration; a record has the others as alternatives, if the first needs more memory than there is."""
    tuner.nargs = dict(zip(tuner.arg_names, args))
    result = None
    for i, c in enumerate(tuner.configs[:8 if RECORD else 1]):
        if c.pre_hook:
            c.pre_hook({**tuner.nargs, **named, **c.all_kwargs()})
        options = {"num_warps": c.num_warps} | ({"num_stages": c.num_stages, "alternative": i} if RECORD else {})
        result = tuner.fn.run(*args, **{**named, **c.kwargs, **options})
    tuner.best_config = tuner.configs[0]  # host code may ask for it
    return result


def skip_comparisons(items):
    """Nothing is computed while launches are recorded; a test goes on to its next launch."""
    torch.testing.assert_close = lambda *a, **k: None
    torch.allclose = torch.equal = lambda *a, **k: True
    for module in {item.module for item in items if hasattr(item, "module")}:
        for name, f in list(vars(module).items()):
            if callable(f) and re.search("assert|allclose|compare", name) and not name.startswith("test"):
                setattr(module, name, lambda *a, **k: None)


def pytest_collection_modifyitems(items):
    if RECORD:
        skip_comparisons(items)
    random.seed(7)
    groups = {}
    for item in items:
        groups.setdefault((item.fspath, getattr(item, "originalname", item.name)), []).append(item)
    most = int(os.environ.get("TILE_CASES", "2"))
    items[:] = [item for group in groups.values() for item in random.sample(group, min(most, len(group)))]


def replace_launches():
    JITFunction.run, Autotuner.run = run, run_tuned
    entry = sys.modules.get("flag_gems.utils.libentry")  # a launcher of its own
    if entry:
        entry.LibEntry.run = lambda f, *args, **named: (f.fn.run(*args, **named), {})
        for tuner in [entry.LibTuner] + entry.LibTuner.__subclasses__():
            tuner.run = run_tuned


cuda_on_cpu.install()
replace_launches()
if "flag_gems" in os.environ.get("TILE_PRELOAD", ""):
    import flag_gems  # noqa: F401
    replace_launches()
if os.environ.get("TILE_REPORT"):
    atexit.register(lambda: json.dump(report, open(os.environ["TILE_REPORT"], "w"), indent=1))
