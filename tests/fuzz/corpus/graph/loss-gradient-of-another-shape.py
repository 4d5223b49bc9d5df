class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[1, 3, 2, 2]", t: "i64[1, 2, 2]", w: "f32[3]"):
        r = torch.ops.aten.nll_loss2d_backward.default(w, x, t, w, 0, -100, w)
        return (r,)
