class GraphModule(torch.nn.Module):
    def forward(self, a: "f32[4, 3]"):
        r = torch.ops.tile.prod_others.default(a, [])
        return (r,)
