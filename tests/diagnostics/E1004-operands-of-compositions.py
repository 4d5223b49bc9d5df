class GraphModule(torch.nn.Module):
    def forward(self, a: "f32[3, 5]", b: "f32[3, 5]", w: "f32[]", i: "i64[2, 2]", x: "f32[2, 4, 6, 9]", g: "f32[2, 4, 3, 4]", p: "i64[2, 4, 3, 4]", z: "c64[3, 8]", n: "f32[]", t: "i64[3]", v: "f32[2]"):
        others = torch.ops.tile.prod_others.default(a, [])
        mean = torch.ops.aten.native_layer_norm_backward.default(a, b, [5], i, i, None, None, [True, False, False])
        take = torch.ops.aten.gather.default(a, 1, p)
        query = torch.ops.aten._flash_attention_forward.default(x, w, x, None, None, 4, 4, 0.0, False, False)
        twice = torch.ops.aten.fft_fft2.default(a, None, [0, 0])
        roll = torch.ops.aten.roll.default(w, [1], [0])
        nll = torch.ops.aten.nll_loss_nd.default(a, t, None, -1)
        margin = torch.ops.aten.multi_margin_loss.default(a, t, 1, 1.0, v)
        joined = torch.ops.aten.diff.default(a, 1, 0, v)
        return (a,)
