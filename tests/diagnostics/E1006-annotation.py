class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4, 8][8, 1]cpu", n: "Sym(s0)"):
        permute: "f32[4, 8]" = torch.ops.aten.permute.default(x, [1, 0])
        exp: "bf16[4, 8][8, 1]cpu" = torch.ops.aten.exp.default(x)
        sin: "f32[u0, 8]" = torch.ops.aten.sin.default(x)
        sym_size: "Sym(5)" = torch.ops.aten.sym_size.int(x, 0)
        return (permute, exp, sin, sym_size)
