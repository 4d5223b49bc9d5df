class Whitening(torch.nn.Module):
    def forward(self, x: "f32[8, 8]", y: "f32[8, 3]"):
        chol: "f32[8, 8]" = torch.ops.aten.cholesky.default(x)
        inv = torch.ops.aten.linalg_inv_ex.default(chol)
        getitem: "f32[8, 8]" = inv[0]
        mm: "f32[8, 3]" = torch.ops.aten.mm.default(getitem, y)
        return (mm,)
