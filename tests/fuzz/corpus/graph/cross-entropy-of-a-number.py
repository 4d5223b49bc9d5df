class GraphModule(torch.nn.Module):
    def forward(self, a: "f32[]", b: "f32[]"):
        r = torch.ops.aten.cross_entropy_loss.default(a, b, None, 1, -100, 0.1)
        return (r,)
