class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[2, 3, 4]", w: "f32[0]", b: "f32[3]"):
        r = torch.ops.aten._native_batch_norm_legit.no_stats(x, w, b, True, 0.1, 1e-05)
        q = r[0]
        return (q,)
