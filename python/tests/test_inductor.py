# SPDX-License-Identifier: Apache-2.0
"""`triton.compile` by Tile: kernels as TorchInductor writes them, compiled and launched as it does, on CPU tensors."""
import unittest

import tile
import tile.triton
import torch
import triton
import triton.language as tl
from torch._inductor.runtime import triton_helpers
from torch._inductor.runtime.triton_helpers import libdevice
from triton.compiler import ASTSource


@triton.jit
def triton_poi_fused_relu_tanh_0(in_out_ptr0, in_ptr0, xnumel, XBLOCK: tl.constexpr):
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = xindex % 7
    tmp0 = tl.load(in_out_ptr0 + xindex, xmask)
    tmp1 = tl.load(in_ptr0 + x0, xmask, eviction_policy="evict_last")
    tmp2 = tmp0 + tmp1
    tmp3 = tl.full([1], 0, tl.int32)
    tmp4 = triton_helpers.maximum(tmp3, tmp2)
    tmp5 = libdevice.tanh(tmp4)
    tl.store(in_out_ptr0 + xindex, tmp5, xmask)


@triton.jit
def triton_red_fused_mean_1(in_ptr0, out_ptr0, scale, ks0, xnumel, r0_numel, XBLOCK: tl.constexpr, R0_BLOCK: tl.constexpr):
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_base = tl.arange(0, R0_BLOCK)[None, :]
    _tmp2 = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)
    for r0_offset in range(0, r0_numel, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        tmp0 = tl.load(in_ptr0 + (r0_index * ks0 + r0_numel * xindex), r0_mask & xmask, eviction_policy="evict_first", other=0.0)
        tmp1 = tl.broadcast_to(tmp0, [XBLOCK, R0_BLOCK])
        _tmp2 = tl.where(r0_mask & xmask, _tmp2 + tmp1, _tmp2)
    tmp2 = tl.sum(_tmp2, 1)[:, None]
    tl.store(out_ptr0 + xindex, tmp2 * scale, xmask)


@triton.jit
def wrong(out_ptr0, XBLOCK: tl.constexpr):
    tl.store(out_ptr0, no_such_name)  # noqa: F821


class Compiles(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(3)
        tile.triton.install(inductor=True)
        self.addCleanup(tile.triton.uninstall)
        self.target = triton.runtime.driver.active.get_current_target()

    def compile(self, fn, signature, constants, **options):
        source = ASTSource(fn, signature, constants, {(0,): [["tt.divisibility", 16]]})
        return triton.compile(source, target=self.target, options={"num_warps": 4, "debug": False, **options})

    def launch(self, binary, grid, *args):
        binary._init_handles()
        binary.run(*grid, 0, binary.function, binary.packed_metadata, None, None, None, *args)

    def test_pointwise(self):
        binary = self.compile(triton_poi_fused_relu_tanh_0, {"in_out_ptr0": "*fp32", "in_ptr0": "*fp32", "xnumel": "i32", "XBLOCK": "constexpr"},
                              {"XBLOCK": 32}, num_warps=2)
        for n in (1, 70, 131):
            x, y = torch.randn(n), torch.randn(7)
            want = torch.tanh(torch.relu(x + y.repeat(n // 7 + 1)[:n]))
            for args in ((x.clone(), y, n, 32), (x.clone(), y, n)):
                self.launch(binary, (triton.cdiv(n, 32), 1, 1), *args)
                torch.testing.assert_close(args[0], want)
        self.assertEqual((binary.metadata.num_warps, binary.metadata.shared, binary.n_spills), (2, 0, 0))

    def test_reduction_with_a_constant_argument(self):
        binary = self.compile(triton_red_fused_mean_1, {"in_ptr0": "*fp16", "out_ptr0": "*fp32", "scale": "fp32", "ks0": "constexpr", "xnumel": "i64",
                                                        "r0_numel": "i32", "XBLOCK": "constexpr", "R0_BLOCK": "constexpr"},
                              {"ks0": 1, "XBLOCK": 2, "R0_BLOCK": 16})
        x, out = torch.randn(5, 77).half(), torch.empty(5)
        self.launch(binary, (3, 1, 1), x, out, 1 / 77, 1, 5, 77, 2, 16)
        torch.testing.assert_close(out, x.float().mean(1), rtol=1e-4, atol=1e-4)

    def test_an_empty_grid_and_hooks(self):
        binary = self.compile(triton_poi_fused_relu_tanh_0, {"in_out_ptr0": "*fp64", "in_ptr0": "*fp64", "xnumel": "i32", "XBLOCK": "constexpr"},
                              {"XBLOCK": 16})
        seen, x = [], torch.ones(3, dtype=torch.float64)
        binary.run(0, 1, 1, 0, binary.function, (), None, seen.append, None, x, x, 3)
        self.assertEqual(seen, [])
        binary.run(1, 1, 1, 0, binary.function, (), "what", seen.append, seen.append, x, torch.zeros(7, dtype=torch.float64), 3)
        self.assertEqual(seen, ["what"] * 2)
        torch.testing.assert_close(x, torch.tanh(torch.ones(3, dtype=torch.float64)))

    def test_errors(self):
        with self.assertRaises(triton.CompilationError) as caught:
            self.compile(wrong, {"out_ptr0": "*fp32", "XBLOCK": "constexpr"}, {"XBLOCK": 1})
        self.assertEqual(caught.exception.file, __file__)
        with self.assertRaisesRegex(tile.InvalidArgument, "fp3"):
            self.compile(wrong, {"out_ptr0": "*fp3", "XBLOCK": "constexpr"}, {"XBLOCK": 1})

    def test_uninstall(self):
        from torch._inductor import config

        threads = config.compile_threads
        self.assertEqual((threads, config.use_static_triton_launcher if hasattr(config, "use_static_triton_launcher") else False), (1, False))
        tile.triton.uninstall()
        self.assertEqual(triton.compile.__module__, "triton.compiler.compiler")


if __name__ == "__main__":
    unittest.main()
