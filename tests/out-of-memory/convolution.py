class G(torch.nn.Module):
    def forward(self, x: "f32[2, 8, 16, 16]", w: "f32[16, 8, 3, 3]", b: "f32[16]"):
        convolution = torch.ops.aten.convolution.default(x, w, b, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
        relu = torch.ops.aten.relu.default(convolution)
        mean = torch.ops.aten.mean.dim(relu, [2, 3])
        cumsum = torch.ops.aten.cumsum.default(mean, 1)
        return (relu, cumsum)
