# SPDX-License-Identifier: Apache-2.0
"""Named tuples in Triton's kernels: as arguments, nested, unpacked, made and returned in kernels, with compile-time fields."""
import collections
import unittest
from typing import Any, NamedTuple

import tile.triton
import torch
import triton
import triton.language as tl


class Array(NamedTuple):
    data: Any
    step: Any
    scale: Any = 2


Problem = collections.namedtuple("Problem", "source target n", defaults=(5,))


@triton.jit
def gather(source, target, n, BLOCK: tl.constexpr):
    """Strided elements."""
    i = tl.arange(0, BLOCK)
    v = tl.load(source.data + i * source.step, mask=i < n) * source.scale
    tl.store(target.data + i * target.step, v, mask=i < n)


@triton.jit
def nested(problem, BLOCK: tl.constexpr):
    if problem.n > 0:
        source, target, n = problem
        i = tl.arange(0, BLOCK)
        tl.store(target[0] + i * problem.target.step, tl.load(source.data + i * source.step) + problem[2], mask=i < n)


@triton.jit
def ends(a):
    return Array(tl.max(a, 0), step=tl.min(a, 0))


@triton.jit
def spread(pair, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    e = ends(tl.load(pair[1].data + i))
    if pair[1].step == "both":
        tl.store(out + 1, e.scale)
    high, low, _ = e
    tl.store(out, (high - low) * pair[0])


class NamedTuples(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        tile.triton.install(check=True)
        self.addCleanup(tile.triton.uninstall)

    def test_fields_of_arguments(self):
        x, out = torch.randn(32), torch.zeros(8)
        for scale in (2, 0.5):
            gather[(1,)](Array(x, 4, scale), Array(out, 1), 8, BLOCK=16)
            torch.testing.assert_close(out, x[::4] * scale)

    def test_nested_and_unpacked(self):
        x, out = torch.randn(16), torch.zeros(16)
        nested[(1,)](Problem(Array(x, 1), Array(out, 2)), BLOCK=8)
        torch.testing.assert_close(out[::2][:5], x[:5] + 5)
        self.assertEqual(float(out[1::2].abs().sum() + out[10:].abs().sum()), 0)

    def test_made_in_kernels_and_constant_fields(self):
        x = torch.randn(16)
        for way in ("both", "one"):
            out = torch.zeros(2)
            spread[(1,)]((3.0, Array(x, tl.constexpr(way))), out, BLOCK=16)
            torch.testing.assert_close(out, torch.stack([(x.max() - x.min()) * 3, torch.tensor(2.0 * (way == "both"))]))


if __name__ == "__main__":
    unittest.main()
