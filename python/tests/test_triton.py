# SPDX-License-Identifier: Apache-2.0
"""Triton's functions by Tile on CPU tensors: launches, autotuners, heuristics, helpers, what programs read, what is refused."""
import logging
import math
import unittest

import tile
import tile.triton
import torch
import triton
import triton.language as tl
import triton_helpers
from triton.tools.tensor_descriptor import TensorDescriptor
from triton_helpers import scaled

OFFSET = tl.constexpr(7)
FACTOR = 3
KIND = tl.float32


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask), mask=mask)


@triton.jit
def softmax_kernel(x, out, stride, n, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + i, mask=i < n, other=float("-inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * stride + i, e / tl.sum(e, axis=0), mask=i < n)


@triton.jit
def matmul_kernel(a, b, c, m, n, k, stride_am, stride_bk, stride_cm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for at in range(0, k, BK):
        rk = at + tl.arange(0, BK)
        x = tl.load(a + rm[:, None] * stride_am + rk[None, :], mask=(rm[:, None] < m) & (rk[None, :] < k), other=0.0)
        y = tl.load(b + rk[:, None] * stride_bk + rn[None, :], mask=(rk[:, None] < k) & (rn[None, :] < n), other=0.0)
        acc = tl.dot(x, y, acc)
    tl.store(c + rm[:, None] * stride_cm + rn[None, :], acc.to(c.dtype.element_ty), mask=(rm[:, None] < m) & (rn[None, :] < n))


@triton.jit
def uses_globals(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, (scaled(tl.load(x + i), FACTOR) + OFFSET).to(KIND))


@triton.jit
def by_module(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, triton_helpers.shifted(tl.load(x + i)))


@triton.jit
def apply(x, out, function: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, function(tl.load(x + i)))


@triton.jit
def double(x):
    return x * 2


@triton.jit
def square(x):
    return x * x


@triton.jit
def optional(x, bias, out, scale, FLAG: tl.constexpr, BLOCK: tl.constexpr = 16):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i) * scale
    if bias is not None:
        v += tl.load(bias + i)
    if FLAG == "negative":
        v = -v
    tl.store(out + i, v)


@triton.jit
def summed(a, b):
    return a + b


@triton.jit
def scans(x, out, total, count, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(out + i, tl.associative_scan(v, 0, summed))
    tl.atomic_add(total, tl.reduce(v, 0, summed))
    tl.atomic_add(count, 1)


@triton.jit
def too_far(x, n: tl.constexpr):
    tl.store(x + tl.arange(0, n), 1.0)


@triton.jit
def mistaken(x):
    tl.store(x, nothing)  # noqa: F821


@triton.jit
def asserting(x, N: tl.constexpr):
    tl.static_assert(N < 10, "N is too large")
    tl.store(x, N)


@triton.jit
def copies(source, out, BM: tl.constexpr, BN: tl.constexpr):
    at = tl.program_id(0) * BM
    out.store([at, 0], source.load([at, 0]) * 2)


@triton.jit
def tuples(pointers, sizes, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(pointers[1] + i, tl.load(pointers[0] + i) * sizes[0] + sizes[1])


@triton.jit(noinline=True)
def apart(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i) + 1)


@triton.jit
def calls_apart(x, out, BLOCK: tl.constexpr):
    apart(x, out, BLOCK)


@triton.jit
def magnitudes(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.abs(tl.load(x + i)))


@triton.jit
def scale_by_3(x):
    return x * 3


@triton.jit
def part_constant(out, parts, nothing, BLOCK: tl.constexpr):
    f, (x, way, kind) = parts
    i = tl.arange(0, BLOCK)
    y = f(tl.load(x + i)).to(kind) + len(nothing)
    if way == "twice":
        y = y * 2
    tl.store(out + i, y)


def _named(s):
    ones = [n for n, v in s.constants.items()]
    return "named_" + "_".join([*s.signature.values(), *ones])


@triton.jit(repr=_named)
def named_by_types(x, one, big, none, N: tl.constexpr):
    pass


@triton.jit
def writes_constants(x: tl.const):
    tl.store(x, 1.0)


class Installed(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        tile.triton.install(check=True)
        self.addCleanup(tile.triton.uninstall)

    def same(self, got, want, tolerance=1e-5):
        torch.testing.assert_close(got, want, rtol=tolerance, atol=tolerance)


class Launches(Installed):
    def test_add(self):
        for n, kind in ((1000, torch.float32), (1024, torch.float16), (1, torch.int64), (37, torch.bfloat16)):
            x, y = (torch.randn(n) * 9).to(kind), (torch.randn(n) * 9).to(kind)
            out = torch.empty_like(x)
            add_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, out, n, BLOCK=128)
            self.same(out, x + y, 1e-2)

    def test_positional_and_named(self):
        x, out = torch.randn(64), torch.empty(64)
        add_kernel[(1,)](x, y_ptr=x, out_ptr=out, n=64, BLOCK=64, num_warps=2, num_stages=1)
        self.same(out, 2 * x)

    def test_softmax(self):
        x = torch.randn(5, 100)
        out = torch.empty_like(x)
        softmax_kernel[(5,)](x, out, x.stride(0), 100, BLOCK=128, num_warps=8)
        self.same(out, x.softmax(1))

    def test_matmul(self):
        a, b = torch.randn(40, 50).half(), torch.randn(50, 24).half()
        c = torch.empty(40, 24, dtype=torch.float16)
        matmul_kernel[(3, 2)](a, b, c, 40, 24, 50, 50, 24, 24, BM=16, BN=16, BK=32, num_warps=2)
        self.same(c.float(), a.float() @ b.float(), 1e-2)

    def test_helpers_and_globals_of_two_modules(self):
        x, out = torch.randn(16), torch.empty(16)
        uses_globals[(1,)](x, out, BLOCK=16)
        self.same(out, x * 3 + 100 + 7)
        by_module[(1,)](x, out, BLOCK=16)
        self.same(out, x + 100)

    def test_a_changed_global(self):
        global FACTOR
        x, out = torch.randn(16), torch.empty(16)
        try:
            for FACTOR in (3, 5, 3):
                uses_globals[(1,)](x, out, BLOCK=16)
                self.same(out, x * FACTOR + 107)
        finally:
            FACTOR = 3

    def test_functions_as_arguments(self):
        x, out = torch.randn(16), torch.empty(16)
        for function, want in ((double, x * 2), (square, x * x), (double, x * 2)):
            apply[(1,)](x, out, function, BLOCK=16)
            self.same(out, want)

    def test_closures(self):
        def make(by):
            @triton.jit
            def kernel(x, out, BLOCK: tl.constexpr):
                i = tl.arange(0, BLOCK)
                tl.store(out + i, tl.load(x + i) * by)

            return kernel

        x, out = torch.randn(16), torch.empty(16)
        for by in (2, 5):
            make(tl.constexpr(by))[(1,)](x, out, BLOCK=16)
            self.same(out, x * by)

    def test_none_texts_and_defaults(self):
        x, bias, out = torch.randn(16), torch.randn(16), torch.empty(16)
        optional[(1,)](x, None, out, 2.0, "positive")
        self.same(out, 2 * x)
        optional[(1,)](x, bias, out, 1, FLAG="negative")
        self.same(out, -(x + bias))

    def test_scan_reduce_and_atomics(self):
        x, out, total, count = torch.randn(64), torch.empty(64), torch.zeros(1), torch.zeros(1, dtype=torch.int32)
        scans[(1,)](x, out, total, count, BLOCK=64)
        self.same(out, x.cumsum(0), 1e-4)
        self.same(total[0], x.sum(), 1e-4)
        self.assertEqual(int(count), 1)

    def test_descriptors_tuples_and_noinline(self):
        x, out = torch.randn(32, 16), torch.empty(32, 16)
        copies[(2,)](TensorDescriptor.from_tensor(x, [16, 16]), TensorDescriptor.from_tensor(out, [16, 16]), 16, 16)
        self.same(out, 2 * x)
        y, z = torch.randn(16), torch.empty(16)
        tuples[(1,)]((y, z), (3, 1.5), 16)
        self.same(z, 3 * y + 1.5)
        calls_apart[(1,)](y, z, BLOCK=16)
        self.same(z, y + 1)

    def test_constants_and_functions_in_tuples(self):
        x, out = torch.randn(16), torch.empty(16)
        for way, want in (("twice", 6 * x), ("once", 3 * x), ("once", 3 * x)):
            part_constant[(1,)](out, (scale_by_3, (x, tl.constexpr(way), tl.float32)), (), BLOCK=16)
            self.same(out, want)

    def test_names_of_specialisations(self):
        x = torch.zeros(16, dtype=torch.float16)
        h = named_by_types.warmup(x, 1, 2**31, None, 3, grid=(1,))
        self.assertEqual(h.name, "named_*fp16_constexpr_i64_constexpr_constexpr_one_none_N")
        self.assertEqual(named_by_types[(1,)](x, 5, 7, 2.5, 3).name, "named_*fp16_i32_i32_fp32_constexpr_N")
        self.assertEqual(named_by_types[(1,)](x, 5, 7, 2.5, 3).name, "named_*fp16_i32_i32_fp32_constexpr_N")

    def test_reinterpreted_tensors(self):
        x = torch.randint(0, 100, (16,), dtype=torch.int8)
        out = torch.empty(16, dtype=torch.uint8)
        add_kernel[(1,)](triton.reinterpret(x, tl.uint8), triton.reinterpret(x, tl.uint8), out, 16, BLOCK=16)
        self.assertTrue(torch.equal(out, (2 * x.int()).to(torch.uint8)))

    def test_magnitudes_of_stored_floats(self):
        bits, out = torch.arange(-128, 128, dtype=torch.int8), torch.empty(256, dtype=torch.int8)
        magnitudes[(1,)](triton.reinterpret(bits, tl.float8e4b15), triton.reinterpret(out, tl.float8e4b15), N=256)
        self.same(out, bits & 127)

    def test_numbers(self):
        @triton.jit
        def numbers(out, a, b, c, d):
            tl.store(out, a)
            tl.store(out + 1, b)
            tl.store(out + 2, c)
            tl.store(out + 3, d.to(tl.float64))

        out = torch.empty(4, dtype=torch.float64)
        numbers[(1,)](out, 1, 2**40, math.pi, True)
        self.same(out, torch.tensor([1, 2.0**40, math.pi, 1], dtype=torch.float64), 1e-6)

    def test_types_set_by_a_decorator(self):
        def typed(**types):
            def decorate(f):
                f.__annotations__ = types
                return f

            return decorate

        @triton.jit
        @typed(a=tl.bfloat16, b="tl.uint8")
        def narrow(out, a, b=3, N: tl.constexpr = 2):
            tl.store(out, a)
            tl.store(out + 1, b * N)

        out = torch.empty(2)
        narrow[(1,)](out, 1.00390625, 130)
        self.assertEqual(out.tolist(), [1.0, 4.0])  # rounded to bfloat16; 260 in 8 bits

    def test_a_grid_of_nothing(self):
        x = torch.zeros(4)
        add_kernel[(0,)](x, x, x, 4, BLOCK=16)


class Tuning(Installed):
    def test_autotune(self):
        f = triton.autotune([triton.Config({"BLOCK": 64}, num_warps=2), triton.Config({"BLOCK": 128})], key=["n"])(add_kernel)
        x, out = torch.randn(300), torch.empty(300)
        f[lambda meta: (triton.cdiv(300, meta["BLOCK"]),)](x, x, out, 300)
        self.same(out, 2 * x)
        self.assertEqual(f.best_config.kwargs["BLOCK"], 64)

    def test_configurations_that_do_not_compile_are_passed_over(self):
        f = triton.autotune([triton.Config({"N": 16}), triton.Config({"N": 8})], key=[])(asserting)
        x = torch.zeros(1)
        f[(1,)](x)
        self.assertEqual(float(x), 8)

    def test_heuristics(self):
        f = triton.heuristics({"BLOCK": lambda a: triton.next_power_of_2(a["n"])})(add_kernel)
        x, out = torch.randn(100), torch.empty(100)
        f[(1,)](x, x, out, 100)
        self.same(out, 2 * x)

    def test_pre_hooks(self):
        seen = []
        f = triton.autotune([triton.Config({"BLOCK": 64}, pre_hook=lambda a: seen.append(a["n"]))], key=[])(add_kernel)
        x, out = torch.randn(64), torch.empty(64)
        f[(1,)](x, x, out, 64)
        self.assertEqual(seen, [64])


class Results(Installed):
    def test_warmup_is_launchable(self):
        kernel = add_kernel.warmup(torch.float32, torch.float32, torch.float32, 64, BLOCK=64, grid=(1,))
        self.assertEqual(kernel.name, "add_kernel")
        x, out = torch.randn(64), torch.empty(64)
        kernel[(1, 1, 1)](x, x, out, 64)
        self.same(out, 2 * x)

    def test_code(self):
        x = torch.zeros(16)
        self.assertGreater(len(add_kernel[(1,)](x, x, x, 16, BLOCK=16).asm["object"]), 100)


    def test_what_the_driver_says(self):
        x = torch.zeros(32)
        launched = add_kernel[(1,)](x, x, x, 32, BLOCK=32, num_warps=2, num_stages=2)
        self.assertEqual((launched.n_regs, launched.n_spills), (0, 0))  # of the CPU
        m = launched.metadata
        self.assertEqual((m.name, m.num_warps, m.num_stages, m.num_ctas, m.shared), ("add_kernel", 2, 2, 1, 0))
        self.assertEqual(len(launched.hash), 64)
        self.assertIn("def add_kernel", launched.asm["source"])


class Hooks(Installed):
    """`triton.knobs.runtime`, which Triton 3.4 and newer have."""

    def setUp(self):
        super().setUp()
        if not hasattr(triton, "knobs"):
            self.skipTest("this Triton has no knobs")
        tile.triton.install()
        self.runtime = triton.knobs.runtime
        self.seen = []

    def hooked(self, name, hook):
        before = getattr(self.runtime, name)
        if hasattr(before, "add"):
            before.add(hook)
            self.addCleanup(before.remove, hook)
        else:
            setattr(self.runtime, name, hook)
            self.addCleanup(setattr, self.runtime, name, before)

    def test_launches(self):
        self.hooked("launch_enter_hook", lambda m: self.seen.append(("enter", m.get()["name"])))
        self.hooked("launch_exit_hook", lambda m: self.seen.append(("exit", m.get()["name"])))
        x, out = torch.randn(16), torch.empty(16)
        for _ in range(2):
            add_kernel[(1,)](x, x, out, 16, BLOCK=16)
            self.same(out, 2 * x)
        self.assertEqual(self.seen, [("enter", "add_kernel"), ("exit", "add_kernel")] * 2)

    def test_metadata_of_the_kernel(self):
        @triton.jit(launch_metadata=lambda grid, metadata, args: {"bytes": args["n"] * 4, "warps": metadata.num_warps, "grid": grid[0]})
        def fill(out, n, BLOCK: tl.constexpr):
            i = tl.arange(0, BLOCK)
            tl.store(out + i, 3.0, mask=i < n)

        self.hooked("launch_enter_hook", lambda m: self.seen.append(m.get()))
        fill[(1,)](torch.empty(16), 16, BLOCK=16, num_warps=8)
        self.assertEqual([(s["bytes"], s["warps"], s["grid"]) for s in self.seen], [(64, 8, 1)])

    def test_compilations(self):
        @triton.jit
        def fresh(out, n, BLOCK: tl.constexpr):
            i = tl.arange(0, BLOCK)
            tl.store(out + i, i * 2, mask=i < n)

        self.hooked("jit_cache_hook", lambda **k: self.seen.append(("before", k["fn"].name, k["compile"]["num_warps"])))
        self.hooked("jit_post_compile_hook", lambda **k: self.seen.append(("after", k["compile"]["constants"])))
        out = torch.empty(32)
        for _ in range(3):
            fresh[(1,)](out, 32, BLOCK=32, num_warps=2)
        self.assertEqual([s[0] for s in self.seen], ["before", "after"])
        self.assertEqual(self.seen[0][2], 2)
        self.assertEqual(list(self.seen[1][1].values()), [32])
        fresh[(1,)](out, 32, BLOCK=64)
        self.assertEqual(len(self.seen), 4)

    def test_a_hook_that_cancels(self):
        @triton.jit
        def never(out):
            tl.store(out, 1.0)

        self.hooked("jit_cache_hook", lambda **k: True)
        out = torch.zeros(1)
        self.assertIsNone(never[(1,)](out))
        self.assertEqual(float(out), 0)


class Plans(Installed):
    """Launches after the first, without checks."""

    def setUp(self):
        super().setUp()
        tile.triton.install()

    def test_calls_that_differ(self):
        for _ in range(3):
            for n, kind, block in ((100, torch.float32, 64), (100, torch.float64, 64), (100, torch.float32, 128), (64, torch.int32, 64)):
                x, out = (torch.randn(n) * 9).to(kind), torch.empty(n, dtype=kind)
                add_kernel[lambda m: (triton.cdiv(m["n"], m["BLOCK"]),)](x, x, out, n, BLOCK=block)
                self.same(out, 2 * x)

    def test_functions_globals_and_none(self):
        global FACTOR
        x, out = torch.randn(16), torch.empty(16)
        try:
            for FACTOR in (3, 3, 5, 5, 3):
                uses_globals[(1,)](x, out, BLOCK=16)
                self.same(out, x * FACTOR + 107)
        finally:
            FACTOR = 3
        for function, want in ((double, x * 2), (square, x * x)) * 2:
            apply[(1,)](x, out, function, BLOCK=16)
            self.same(out, want)
        for bias in (None, x, None, x):
            optional[(1,)](x, bias, out, 2, "positive")
            self.same(out, 2 * x + (0 if bias is None else bias))

    def test_results_are_launchable_and_keep_no_tensor(self):
        import weakref

        x, out = torch.randn(16), torch.empty(16)
        for _ in range(2):
            launched = add_kernel[(1,)](x, x, out, 16, BLOCK=16)
        gone = weakref.ref(x)
        del x
        self.assertIsNone(gone())
        y = torch.ones(16)
        launched[(1, 1, 1)](y, y, out, 16)
        self.same(out, 2 * y)

    def test_a_freed_tensor(self):
        x, out = torch.ones(16), torch.empty(16)
        add_kernel[(1,)](x, x, out, 16, BLOCK=16)
        x.untyped_storage().resize_(0)
        with self.assertRaisesRegex(tile.InvalidArgument, "x_ptr.*freed"):
            add_kernel[(1,)](x, out, out, 16, BLOCK=16)

    def test_negated_views(self):
        x = torch.randn(16, dtype=torch.complex64).conj().imag
        out = torch.empty(16)
        add_kernel[(1,)](torch.ones(16), torch.ones(16), out, 16, BLOCK=16)
        with self.assertRaises(tile.InvalidArgument):
            add_kernel[(1,)](x, x, out, 16, BLOCK=16)


class Refusals(Installed):
    def test_places_are_those_of_the_file(self):
        with self.assertRaises(triton.CompilationError) as caught:
            mistaken[(1,)](torch.zeros(1))
        e = caught.exception
        self.assertIsInstance(e, tile.CompileError)
        with open(__file__) as f:
            self.assertIn("nothing)", f.read().split("\n")[e.line - 1])
        self.assertEqual(e.file, __file__)

    def test_accesses_outside_of_tensors(self):
        with self.assertRaisesRegex(tile.CheckFailed, "element 5 of 5"):
            too_far[(1,)](torch.zeros(5), 8)
        tile.triton.install(check=False)
        too_far[(1,)](torch.zeros(16)[:5], 8)  # unchecked, and within the storage

    def test_assertions_at_compile_time(self):
        with self.assertRaises(tile.triton.AssertionFailure):
            asserting[(1,)](torch.zeros(1), 12)

    def test_causes(self):
        """The cause of an exception is its message alone, as in Triton."""
        with self.assertRaises(triton.CompilationError) as caught:
            mistaken[(1,)](torch.zeros(1))
        self.assertEqual(str(caught.exception.__cause__), "unknown name nothing")
        self.assertEqual(caught.exception.error_message, "unknown name nothing")
        with self.assertRaises(triton.CompilationError) as caught:
            writes_constants.warmup(torch.zeros(1), grid=(1,))
        self.assertEqual(str(caught.exception.__cause__), "Cannot store to a constant pointer")

    def test_options(self):
        x = torch.zeros(16)
        for options, kind, text in (({"num_warps": 6}, AssertionError, "power of 2"), ({"num_warps": 0}, AssertionError, "power of 2"),
                                    ({"num_ctas": 2, "arch": "sm80"}, ValueError, "SM90"), ({"num_ctas": 2, "arch": "sm89"}, ValueError, "SM90")):
            with self.assertRaisesRegex(kind, text):
                add_kernel.warmup(x, x, x, 16, BLOCK=16, grid=(1,), **options)
        with self.assertRaises(OverflowError):
            add_kernel[(1,)](x, x, x, 2**64, BLOCK=16)

    def test_calls(self):
        x = torch.zeros(16)
        for args, named, kind in (((x, x, x), {}, TypeError), ((x, x, x, 16, 16, 1), {}, TypeError), ((x, x, x, 16), {"BLOCK": 16, "x_ptr": x}, TypeError),
                                  ((x, x, x, 16), {"BLOCK": 16, "num_warp": 4}, KeyError), ((x, object(), x, 16), {"BLOCK": 16}, tile.InvalidArgument)):
            with self.assertRaises(kind):
                add_kernel[(1,)](*args, **named)

    def test_uninstall(self):
        self.assertTrue(tile.triton.installed())
        tile.triton.uninstall()
        self.assertFalse(tile.triton.installed())
        self.assertEqual(triton.runtime.jit.JITFunction.run.__module__, "triton.runtime.jit")

    @unittest.skipIf(tile.device_count(), "there is a GPU")
    def test_nothing_falls_back_without_a_gpu(self):
        with self.assertLogs("tile.triton") as logs:
            logging.getLogger("tile.triton").warning("nothing else")
            with self.assertRaises(tile.CompileError):
                mistaken[(1,)](torch.zeros(1))
        self.assertEqual(len(logs.output), 1)


if __name__ == "__main__":
    unittest.main()
