class G(torch.nn.Module):
    def forward(self, x: "f16[1, 16, 8, 8]", w: "f16[16, 16, 3, 3]"):
        c = torch.ops.aten.convolution.default(x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
        r = torch.ops.aten.relu.default(c)
        return (r,)

Free strides: {r, c}
