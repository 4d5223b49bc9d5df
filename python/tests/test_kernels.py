# SPDX-License-Identifier: Apache-2.0
"""Kernels on NumPy, PyTorch and DLPack arrays of the CPU, and what they refuse."""
import os
import pathlib
import subprocess
import sys
import threading
import unittest

import numpy as np
import tile

try:
    import torch
except ImportError:
    torch = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = '''
@jit
def scale(x, out, n, by, BLOCK: constexpr = 64):
    i = program_id(0) * BLOCK + arange(0, BLOCK)
    store(out + i, load(x + i, mask=i < n) * by, mask=i < n)

@jit
def optional(x, bias, out, BLOCK: constexpr):
    i = arange(0, BLOCK)
    v = load(x + i)
    if bias is not None:
        v += load(bias + i)
    store(out + i, v)

@jit
def typed(x: const_ptr[f32], out: ptr[f32], n: i64, by: f64, KIND: constexpr = "plain", BLOCK: constexpr = 16):
    i = arange(0, BLOCK)
    v = load(x + i, mask=i < n)
    if KIND == "negative":
        v = -v
    store(out + i, v * by.to(f32), mask=i < n)

@jit
def strided(x, out, strides, BLOCK: constexpr):
    i = arange(0, BLOCK)
    store(out + i, load(x + i * strides[0] + strides[1]))

@jit
def blocks(x, out, BLOCK: constexpr):
    i = arange(0, BLOCK)
    store(out + i[:, None] * BLOCK + i[None, :], x.load([0, BLOCK]))
'''


def kernel(name):
    return tile.from_source(SOURCE, name, path="doors.tile")


class Arrays(unittest.TestCase):
    def test_every_dtype_of_numpy(self):
        k = kernel("scale")
        for kind in "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split():
            x = np.arange(100).astype(kind)
            out = np.zeros_like(x)
            k[tile.cdiv(100, 64)](x, out, 100, 2)
            np.testing.assert_array_equal(out, x * x.dtype.type(2), kind)

    def test_defaults_are_known_to_the_grid(self):
        x, out, seen = np.ones(300, np.float32), np.zeros(300, np.float32), []
        kernel("scale")[lambda m: seen.append(dict(m)) or tile.cdiv(m["n"], m["BLOCK"])](x, out, n=300, by=3.0)
        self.assertTrue((out == 3).all())
        self.assertEqual(seen[0]["BLOCK"], 64)

    def test_none_and_tuples(self):
        x, bias, out = np.arange(16, dtype=np.int32), np.full(16, 5, np.int32), np.zeros(16, np.int32)
        k = kernel("optional")
        k[1](x, None, out, BLOCK=16)
        np.testing.assert_array_equal(out, x)
        k[1](x, bias, out, BLOCK=16)
        np.testing.assert_array_equal(out, x + 5)
        wide = np.arange(64, dtype=np.int32)
        kernel("strided")[1](wide, out, (3, 2), BLOCK=16)
        np.testing.assert_array_equal(out, wide[2:50:3])

    def test_typed_parameters_and_read_only_arrays(self):
        x, out = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
        x.flags.writeable = False
        kernel("typed")[1](x, out, 16, 2, KIND="negative")
        np.testing.assert_array_equal(out, -2 * x)
        with self.assertRaisesRegex(tile.InvalidArgument, "`n` is 1.5, but the parameter is i64"):
            kernel("typed")[1](x, out, 1.5, 2)
        with self.assertRaisesRegex(tile.InvalidArgument, "`x` is read-only"):
            kernel("scale")[1](x, out, 16, 2)

    def test_numbers_beyond_32_bits(self):
        x, out = np.ones(4, np.int64), np.zeros(4, np.int64)
        for by in (2**31 - 1, 2**31, -(2**63), np.int64(7), True):
            kernel("scale")[1](x, out, 4, by)
            self.assertEqual(out[0], by)
        with self.assertRaisesRegex(tile.InvalidArgument, "does not fit 64 bits"):
            kernel("scale")[1](x, out, 4, 2**64)

    def test_descriptors(self):
        x, out = np.arange(16 * 32, dtype=np.float32).reshape(16, 32), np.zeros((16, 16), np.float32)
        kernel("blocks")[1](tile.TensorDescriptor(x, [16, 16]), out, BLOCK=16)
        np.testing.assert_array_equal(out, x[:, 16:])

    def test_a_grid_of_nothing_launches_nothing(self):
        out = np.zeros(4, np.float32)
        kernel("scale")[(0,)](out, out, 4, 2)
        kernel("scale")[2, 0](out, out, 4, 2)

    def test_other_libraries_by_dlpack(self):
        class Foreign:
            """An array of a library that only knows the protocol before 1.0."""

            def __init__(self, array):
                self.array = array

            def __dlpack__(self, stream=None):
                return self.array.__dlpack__()

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        x, out = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
        kernel("scale")[1](Foreign(x), Foreign(out), 8, 4)
        np.testing.assert_array_equal(out, 4 * x)

    def test_threads(self):
        k, failures = kernel("scale"), []

        def run(by):
            x, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
            for _ in range(20):
                k[1](x, out, 64, float(by))
            if not np.array_equal(out, by * x):
                failures.append(by)

        threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(failures, [])


@unittest.skipIf(torch is None, "no PyTorch in this Python")
class Torch(unittest.TestCase):
    def test_dtypes_and_views(self):
        k = kernel("scale")
        for kind in (torch.float16, torch.bfloat16, torch.float64, torch.int16, torch.uint8):
            x = torch.arange(40, dtype=torch.float32).to(kind)
            out = torch.zeros(50, dtype=kind)
            k[1](x, out[7:], 40, 2)
            self.assertTrue(torch.equal(out[7:47], x * 2), kind)

    def test_what_has_no_plain_memory(self):
        k, out = kernel("scale"), torch.zeros(4)
        for x, says in ((torch.eye(2).to_sparse(), "sparse"), (torch.zeros(4, dtype=torch.complex64), "complex64"),
                        (torch.zeros(4, device="meta"), "meta")):
            with self.assertRaisesRegex(tile.InvalidArgument, says):
                k[1](x, out, 4, 2)

    def test_a_parameter_that_needs_gradients(self):
        w, out = torch.nn.Parameter(torch.ones(4)), torch.zeros(4)
        kernel("scale")[1](w, out, 4, 2)
        self.assertTrue(torch.equal(out, torch.full((4,), 2.0)))

    def test_prepared(self):
        x, y, out = torch.ones(64), torch.full((64,), 5.0), torch.zeros(64)
        p = kernel("scale").prepare(1, x, out, 64, 2.0)
        p()
        self.assertTrue((out == 2).all())
        p.set(0, y)
        p.set(3, 3.0)
        p()
        self.assertTrue((out == 15).all())
        with self.assertRaises(tile.InvalidArgument):
            p.set(4, 1)


class Errors(unittest.TestCase):
    def test_places_of_diagnostics(self):
        with self.assertRaises(tile.CompileError) as caught:
            tile.from_source("@jit\ndef f(x):\n    store(x, nothing)\n", path="wrong.tile")[1](np.zeros(4))
        e = caught.exception
        self.assertEqual((e.file, e.line, e.column, e.code), ("wrong.tile", 3, 14, "E0201"))
        self.assertEqual(e.status, "compile error")
        self.assertIn("wrong.tile:3:14: error", str(e))

    def test_a_source_that_does_not_parse(self):
        with self.assertRaises(tile.CompileError) as caught:
            tile.from_source("@jit\ndef f(x:\n    pass\n", path="broken.tile")
        self.assertEqual(caught.exception.file, "broken.tile")

    def test_calls(self):
        k, x = kernel("scale"), np.zeros(4, np.float32)
        for args, named, says in (((x, x), {"n": 4}, "needs an argument `by`"), ((x, x, 4, 1, 16, 1), {}, "takes 5 arguments, got 6"),
                                  ((x, x, 4, 1), {"x": x}, "two values for `x`"), ((x, x, 4, 1), {"BLOK": 4}, "no parameter `BLOK`")):
            with self.assertRaisesRegex(TypeError, says):
                k[1](*args, **named)

    def test_values(self):
        k, x = kernel("scale"), np.zeros(4, np.float32)
        for args, says in (((object(), x, 4, 1), "`x` is a object"), ((np.zeros(4, np.complex64), x, 4, 1), "complex64"),
                           ((np.zeros(4, ">f4"), x, 4, 1), ">f4"), (("text", x, 4, 1), "`x` is a str")):
            with self.assertRaisesRegex(tile.InvalidArgument, says):
                k[1](*args)
        for grid in ((1, 1, 1, 1), -1, ()):
            with self.assertRaises(tile.InvalidArgument):
                k[grid](x, x, 4, 1)
        with self.assertRaises(tile.InvalidArgument):
            k[1](x, x, 4, 1, num_warps=3)
        with self.assertRaises(tile.CompileError):
            k[1](x, x, 4, 1, BLOCK=48)

    def test_checks_find_what_is_outside(self):
        x, out = np.zeros(64, np.float32), np.zeros(40, np.float32)
        with self.assertRaises(tile.CheckFailed) as caught:
            kernel("scale")[1](x, out, 64, 1, check=True)
        self.assertEqual((caught.exception.file, caught.exception.line), ("doors.tile", 5))
        self.assertIn("`out`: element 40 of 40", str(caught.exception))
        kernel("scale")[1](x, out, 40, 1, check=True)
        kernel("scale")[1](x[:40], x[20:], 40, 1, check=True)  # of one array

    def test_files(self):
        with self.assertRaises(tile.NotFound):
            tile.load("/nowhere/none.tile")
        with self.assertRaises(tile.NotFound):
            tile.load(ROOT / "tutorials/01-vector-add/add.tile", "subtract")
        with self.assertRaises(tile.CompileError):
            tile.from_source(SOURCE)  # several kernels, and none is named

    def test_gpu_without_a_gpu(self):
        if tile.device_count():
            self.skipTest("there is a GPU")
        with self.assertRaises(tile.NoDevice):
            tile.properties("cuda:0")
        with self.assertRaises(tile.InvalidArgument):
            tile.properties("toaster")


class Library(unittest.TestCase):
    def run_python(self, code, **environment):
        env = {**os.environ, "PYTHONPATH": str(ROOT / "python"), **environment}
        return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)

    def test_missing(self):
        done = self.run_python("import tile; tile.from_source('x')", TILE_LIBRARY="/nowhere/libtile.so")
        self.assertIn("LibraryMissing: libtile was not found", done.stderr)
        self.assertIn("/nowhere/libtile.so", done.stderr)

    def test_another_library(self):
        done = self.run_python("import ctypes.util, os; os.environ['TILE_LIBRARY'] = ctypes.util.find_library('c')\n"
                               "import tile; tile.from_source('x')")
        self.assertIn("is from another version than this package", done.stderr)

    def test_importing_loads_nothing(self):
        done = self.run_python("import sys, tile; print([m for m in ('torch', 'numpy', 'triton') if m in sys.modules])", TILE_LIBRARY="/nowhere")
        self.assertEqual(done.stdout.strip(), "[]", done.stderr)

    def test_without_numpy_and_torch(self):
        done = self.run_python("import sys; sys.modules.update(numpy=None, torch=None)\n"
                               "import tile, array\nk = tile.from_source('@jit\\ndef f(x):\\n    store(x, 1)\\n')\n"
                               "try: k[1](array.array('i', [0]))\nexcept tile.InvalidArgument as e: print(e)")
        self.assertIn("not an array", done.stdout.replace("arguments are arrays", "not an array"), done.stderr)


if __name__ == "__main__":
    unittest.main()
