# SPDX-License-Identifier: Apache-2.0
"""Images that a forward saves for its backward: with channels last where the library chooses so, which is told to AOTAutograd. The CPU's
programs do so with TILE_DEBUG=channels-last, which is read once a process: the tests run in one of their own."""
import os
import subprocess
import sys
import unittest

import torch
import tile.torch  # noqa: F401
from tile.torch import layouts


class Net(torch.nn.Module):
    def __init__(self, keeps):
        super().__init__()
        self.first = torch.nn.Conv2d(5, 24, 3, padding=1, bias=False)
        self.norm, self.other = torch.nn.BatchNorm2d(24), torch.nn.Conv2d(24, 16, 3, stride=2, groups=1)
        self.wide, self.keeps = torch.nn.Conv2d(16, 16, 5, padding=2, groups=16), keeps

    def forward(self, x):
        y = torch.nn.functional.silu(self.norm(self.first(x)))
        z = self.wide(self.other(y).relu())
        return (z.mean((2, 3)), y) if self.keeps else (z.mean((2, 3)),)


def gradients(call, net, x):
    net.zero_grad()
    results = call(x)
    sum((r.float() * r.float()).mean() for r in results).backward()
    return list(results) + [p.grad.clone() for p in net.parameters()]


@unittest.skipUnless(os.environ.get("TILE_DEBUG") == "channels-last", "run by Layouts")
class Inside(unittest.TestCase):
    def check(self, keeps, size):
        torch.manual_seed(size)
        net, told = Net(keeps).to(torch.bfloat16).train(), []
        x = torch.randn(3, 5, size, size + 3, dtype=torch.bfloat16)
        wide, before = [t.float() for t in gradients(net, net, x)], layouts.report
        layouts.report = lambda strides: (told.extend(strides), before(strides))
        try:
            torch._dynamo.reset()
            have = gradients(torch.compile(net, backend="tile"), net, x)
        finally:
            layouts.report = before
        for h, w in zip(have, wide):
            self.assertLess((h.float() - w).abs().max().item(), 0.15 * w.abs().max().item() + 1e-3)
        return have, [s for s in told if s is not None]

    def test_saved_images(self):
        _, told = self.check(keeps=False, size=14)
        self.assertGreaterEqual(len(told), 4)
        for strides in told:
            self.assertEqual(strides[1], 1)

    def test_results_of_the_model_keep_theirs(self):
        have, told = self.check(keeps=True, size=11)
        self.assertEqual(have[1].stride(), (24 * 11 * 14, 11 * 14, 14, 1))
        self.assertNotIn((24 * 11 * 14, 1, 24 * 14, 24), told[-1:])

    def test_sizes_that_change(self):
        torch._dynamo.reset()
        net = Net(False).to(torch.bfloat16).train()
        call = torch.compile(net, backend="tile", dynamic=True)
        for size in (9, 12, 16):
            x = torch.randn(2, 5, size, size, dtype=torch.bfloat16)
            for h, w in zip(gradients(call, net, x), gradients(net, net, x)):
                self.assertLess((h.float() - w.float()).abs().max().item(), 0.15 * w.float().abs().max().item() + 1e-3)


class Layouts(unittest.TestCase):
    def test_channels_last(self):
        ran = subprocess.run([sys.executable, "-m", "unittest", "test_layouts.Inside"], capture_output=True, text=True,
                             env={**os.environ, "TILE_DEBUG": "channels-last", "PYTHONPATH": os.pathsep.join(sys.path)})
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("Ran 3 tests", ran.stderr)


if __name__ == "__main__":
    unittest.main()
