class GraphModule(torch.nn.Module):
    def forward(self, a: "u8[]"):
        r = torch.ops.aten.scatter_add.default(a, 0, a, a)
        return (r,)
