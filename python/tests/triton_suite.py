# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest that runs Triton's own tests by Tile on CPU tensors; the tests are not part of this repository.

usage: TILE_LIBRARY=build/libtile.so PYTHONPATH=python:python/tests python3 -m pytest -p triton_suite TRITON/python/test/unit/language/test_core.py

environment: TILE_CASES  most cases of one test function, chosen at random with seed 7 (default 4; 0: all)
             TILE_CHECK  1: checked launches
PyTorch's tensors on "cuda" are on the CPU. Tests that read what only Triton's compiler makes (`asm["ttgir"]`, ...) are skipped."""
import contextlib
import os
import random

import pytest
import tile.triton
import torch

CASES = int(os.environ.get("TILE_CASES", "4"))
tile.triton.install(check=os.environ.get("TILE_CHECK") == "1")
torch.cuda.get_device_capability = lambda *a: (9, 0)
torch.cuda.get_device_name = lambda *a: "NVIDIA H100"
torch.cuda.synchronize = lambda *a: None
torch.cuda.current_device = lambda: 0

torch.cuda.device = lambda *a: contextlib.nullcontext()


class _OnTheCpu(torch.overrides.TorchFunctionMode):
    """Tests that name "cuda" themselves get tensors on the CPU too."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if str(kwargs.get("device", "")).startswith("cuda"):
            kwargs["device"] = "cpu"
        return function(*args, **kwargs)


_OnTheCpu().__enter__()

import triton._internal_testing as testing  # noqa: E402

testing.is_cuda = lambda: True

# Predicates of newer versions, for tests newer than the installed package.
for predicate in ("is_hip_cdna3", "is_hip_cdna4", "is_hip_gfx11", "is_hip_gfx12", "is_hip_rdna3", "is_hip_rdna4", "is_hip_gfx1250", "is_blackwell_ultra",
                  "is_sm12x", "is_hip_rdna", "is_hip_cdna", "is_xpu", "is_cpu"):
    if not hasattr(testing, predicate):
        setattr(testing, predicate, lambda: False)
if not hasattr(testing, "get_arch"):
    testing.get_arch = lambda: ""


class _Asm(dict):
    """Code of stages that Tile has not skips the test."""

    def __missing__(self, stage):
        pytest.skip(f"reads asm[{stage!r}]")

    def __getitem__(self, stage):
        return self.__missing__(stage)


tile.triton.launch.Launched.asm = property(lambda self: _Asm())


@pytest.fixture
def device():
    return "cpu"


@pytest.fixture
def with_allocator():
    """Triton's kernels that make descriptors need one; Tile's do not."""


@pytest.fixture
def fresh_knobs():
    """The knobs, as they were afterwards."""
    import triton

    before = {n: getattr(triton.knobs.runtime, n) for n in ("jit_cache_hook", "jit_post_compile_hook")}
    yield triton.knobs
    for name, hook in before.items():
        setattr(triton.knobs.runtime, name, hook)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Skips tests that run PTX."""
    try:
        return (yield)
    except tile.triton.errors.KernelError as e:
        if "inline assembly needs a GPU" in str(e):
            pytest.skip("runs inline PTX")
        raise


def pytest_addoption(parser):
    try:
        parser.addoption("--device", action="store", default="cpu")
    except ValueError:
        pass


def pytest_collection_modifyitems(config, items):
    if not CASES:
        return
    by_function = {}
    for item in items:
        by_function.setdefault(getattr(item, "originalname", item.name), []).append(item)
    kept = set()
    for cases in by_function.values():
        kept.update(random.Random(7).sample(cases, min(CASES, len(cases))))
    config.hook.pytest_deselected(items=[i for i in items if i not in kept])
    items[:] = [i for i in items if i in kept]
