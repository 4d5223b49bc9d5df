class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]", y: "f32[8]"):
        slice_1 = torch.ops.aten.slice.Tensor(y, 0, 0, 9223372036854775808)
        return slice_1
