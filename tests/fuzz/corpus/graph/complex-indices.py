class GraphModule(torch.nn.Module):
    def forward(self, a: "c64[2, 6]"):
        r = torch.ops.aten.index_put.default(a, [a], a)
        return (r,)
