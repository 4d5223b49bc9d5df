class GraphModule(torch.nn.Module):
    def forward(self, a: "u8[1, 4, 2, 3]"):
        r = torch.ops.aten.pixel_shuffle.default(a, 1099511627776)
        return (r,)
