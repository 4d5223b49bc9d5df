# SPDX-License-Identifier: Apache-2.0
"""Launches that reuse what an earlier one found out: calls that look alike and are not must not share a plan."""
import threading
import unittest

import numpy as np
import tile

SOURCE = """
@jit
def mix(x, y, n, scale, B: constexpr, NEGATIVE: constexpr = False):
    i = program_id(0) * B + arange(0, B)
    v = load(x + i, mask=i < n).to(float64) * scale
    if NEGATIVE:
        v = -v
    store(y + i, v.to(y.dtype.element_ty), mask=i < n)
"""


class Plans(unittest.TestCase):
    def setUp(self):
        self.kernel = tile.from_source(SOURCE, "mix")

    def plans(self):
        return sum(len(f.plans) for f in self.kernel._forms.values())

    def check(self, x, y, n, scale, *rest, sign=1, **named):
        self.kernel[lambda m: tile.cdiv(m["n"], m["B"])](x, y, n, scale, *rest, **named)
        np.testing.assert_allclose(y[:n].astype(np.float64), (sign * x[:n].astype(np.float64) * scale).astype(y.dtype), rtol=1e-6)

    def test_types_of_arrays_and_numbers(self):
        for _ in range(3):
            for kind in (np.float32, np.float64, np.int32, np.int16):
                for scale in (3, 2.5, True, 1, 2**33):
                    x = np.arange(40, dtype=kind)
                    self.check(x, np.zeros(40, np.float64), 37, scale, 16)
        self.assertGreaterEqual(self.plans(), 16)

    def test_compile_time_values(self):
        x = np.random.rand(100)
        for _ in range(2):
            for block in (16, 32, 64):
                self.check(x, np.zeros(100), 100, 2.0, B=block)
                self.check(x, np.zeros(100), 100, 2.0, NEGATIVE=True, B=block, sign=-1)
                self.check(x, np.zeros(100), 100, 2.0, B=block, NEGATIVE=False, num_warps=2)
                self.check(x, np.zeros(100), 100, 2.0, B=block, NEGATIVE=1, num_warps=1, sign=-1)

    def test_named_in_another_order(self):
        x, y = np.random.rand(20), np.zeros(20)
        for _ in range(3):
            self.kernel[(2,)](scale=4.0, B=16, y=y, n=20, x=x)
            np.testing.assert_allclose(y, 4 * x)

    def test_slices_and_read_only_arrays(self):
        whole, y = np.random.rand(64), np.zeros(64)
        for start in (0, 1, 2, 3, 0):  # other alignments
            self.check(whole[start:], y, 16, 2.0, 16)
        frozen = np.zeros(16)
        frozen.flags.writeable = False
        self.check(whole, y, 16, 2.0, 16)
        with self.assertRaisesRegex(tile.InvalidArgument, "read-only"):
            self.kernel[(1,)](whole, frozen, 16, 2.0, 16)
        with self.assertRaises(tile.InvalidArgument):
            self.kernel[(1,)](whole.astype(">f8"), y, 16, 2.0, 16)

    def test_grids(self):
        x, y = np.random.rand(16), np.zeros(16)
        for grid in ((1,), 1, [1, 1], (np.int64(1), 1, 1), lambda m: (1,)):
            self.kernel[grid](x, y, 16, 2.0, 16)
            np.testing.assert_allclose(y, 2 * x)
            y[:] = 0
        self.kernel[(0,)](x, y, 16, 2.0, 16)
        self.assertFalse(y.any())
        for grid in ((-1,), (1, 1, 1, 1), (1 << 32,), ()):
            with self.assertRaises(tile.InvalidArgument):
                self.kernel[grid](x, y, 16, 2.0, 16)

    def test_wrong_calls_after_right_ones(self):
        x, y = np.random.rand(16), np.zeros(16)
        self.kernel[(1,)](x, y, 16, 2.0, 16)
        for args, named, kind in (((x, y, 16, 2.0, "16"), {}, tile.Error), ((x, y, 16, 2.0), {}, tile.Error), ((x, y, 16), {"B": 16}, TypeError),
                                  ((x, y, 16, 2.0, 16), {"C": 1}, TypeError), ((x, object(), 16, 2.0, 16), {}, tile.InvalidArgument)):
            with self.assertRaises(kind):
                self.kernel[(1,)](*args, **named)

    def test_threads(self):
        failures = []

        def work(seed):
            x, y = np.random.default_rng(seed).random(1000), np.zeros(1000)
            for i in range(50):
                self.kernel[(16,)](x, y, 1000, float(i), 64)
                if not np.allclose(y, x * i):
                    failures.append((seed, i))

        threads = [threading.Thread(target=work, args=(s,)) for s in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(failures, [])


if __name__ == "__main__":
    unittest.main()
