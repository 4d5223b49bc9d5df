# SPDX-License-Identifier: Apache-2.0
"""Modes that replay CUDA graphs: which graphs are recorded, and as what. PyTorch's trees need a GPU; here a recorder stands for them, and checks
what it is told by running it."""
import unittest
from unittest import mock

import tile.torch  # noqa: F401  (registers the backend)
import torch
from test_torch import Compared
from tile.torch import replays
from torch import nn


class Trees:
    """Stands for PyTorch's cudagraph trees: keeps what is recorded, and refuses static inputs that move, as a replay would."""

    def __init__(self):
        self.recorded, self.told_of_backward = [], 0

    def record(self, run, inputs, static, *, device_index, is_backward, is_inference, placeholders, mutated_input_idxs, **_):
        assert len(placeholders) == len(inputs)
        self.recorded.append((is_backward, is_inference, set(static), set(mutated_input_idxs)))
        addresses = {}

        def replayed(args):
            for i in () if is_backward else static:  # a backward's are results of the forward, which a replay leaves in place
                assert addresses.setdefault(i, args[i].data_ptr()) == args[i].data_ptr(), f"static input {i} moved"
            return run(list(args))

        return replayed

    def set_to_running_backward(self):
        self.told_of_backward += 1


class Modes(Compared):
    def compile(self, model, **named):
        """The model compiled with a recorder instead of CUDA graphs, as though the CPU were a GPU."""
        self.trees = Trees()
        on_cpu = replays.Recorder._why_not

        def why_not(recorder, compiled, graph, inputs):
            why = on_cpu(recorder, compiled, graph, inputs)
            return None if why == "it runs on cpu" and not any(s.is_tile and s.run.is_random for s in compiled.segments) else why

        for what, by in (("torch._inductor.cudagraph_trees.cudagraphify_impl", self.trees.record),
                         ("torch._inductor.cudagraph_trees.get_manager", lambda *_, **__: self.trees),
                         ("torch._dynamo.backends.cudagraphs.get_device_index", lambda _: 0)):
            patch = mock.patch(what, by)
            patch.start()
            self.addCleanup(patch.stop)
        patch = mock.patch.object(replays.Recorder, "_why_not", why_not)
        patch.start()
        self.addCleanup(patch.stop)
        return torch.compile(model, backend="tile", **named)

    def test_inference_is_recorded_with_its_weights_in_place(self):
        model = nn.Sequential(nn.Linear(6, 9), nn.SiLU(), nn.Linear(9, 3)).requires_grad_(False)
        f = self.compile(model, mode="reduce-overhead")
        for _ in range(3):
            x = torch.randn(5, 6)
            self.same(f(x), model(x))
        [(is_backward, is_inference, static, mutated)] = self.trees.recorded
        self.assertEqual((is_backward, is_inference, len(static), mutated), (False, True, 4, set()))

    def test_training_records_forward_and_backward(self):
        model = nn.Sequential(nn.Linear(6, 9), nn.Tanh(), nn.Linear(9, 1))
        f = self.compile(model, mode="max-autotune")
        for _ in range(3):
            x = torch.randn(7, 6)
            wanted = torch.autograd.grad(model(x).square().sum(), model.parameters())
            self.same(torch.autograd.grad(f(x).square().sum(), model.parameters()), wanted)
        self.assertEqual([r[:2] for r in self.trees.recorded], [(False, False), (True, False)])

    def test_a_buffer_is_written_in_place(self):
        class Counted(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("sum", torch.zeros(4))

            def forward(self, x):
                self.sum.add_(x)
                return x * self.sum

        f, model = self.compile(Counted(), mode="reduce-overhead"), Counted()
        for _ in range(3):
            x = torch.randn(4)
            self.same(f(x), model(x))
        [(_, _, static, mutated)] = self.trees.recorded
        self.assertEqual(len(mutated), 1)
        self.assertLessEqual(mutated, static)

    def test_by_the_option(self):
        f = self.compile(lambda x: x.exp(), options={"replays": True})
        self.same(f(torch.zeros(4)), torch.ones(4))
        self.assertEqual(len(self.trees.recorded), 1)

    def test_other_modes_do_not_record(self):
        for mode in ("default", "max-autotune-no-cudagraphs"):
            torch._dynamo.reset()
            f = self.compile(lambda x: x.exp(), mode=mode)
            self.same(f(torch.zeros(4)), torch.ones(4))
            self.assertEqual(self.trees.recorded, [])

    def test_random_numbers_are_not_repeated(self):
        f = self.compile(lambda x: torch.rand_like(x) + x, mode="reduce-overhead")
        x = torch.zeros(64)
        self.assertFalse(torch.equal(f(x), f(x)))
        self.assertEqual(self.trees.recorded, [])

    def test_a_forward_with_dropout_keeps_its_backward_from_being_recorded(self):
        f = self.compile(lambda x: nn.functional.dropout(x.exp(), 0.5), mode="reduce-overhead")
        x = torch.zeros(64, requires_grad=True)
        y = f(x)
        [g] = torch.autograd.grad(y.sum(), [x])
        self.same(g, y.detach())
        self.assertEqual((self.trees.recorded, self.trees.told_of_backward), ([], 0))

    def test_on_the_cpu_a_mode_changes_nothing(self):
        with self.assertLogs("tile.torch", "INFO") as logs:
            f = torch.compile(lambda x: x + 1, backend="tile", mode="reduce-overhead")
            self.same(f(torch.zeros(3)), torch.ones(3))
        self.assertIn("it runs on cpu", "".join(logs.output))


if __name__ == "__main__":
    unittest.main()
