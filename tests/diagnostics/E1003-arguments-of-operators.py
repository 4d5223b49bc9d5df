class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4, 8][8, 1]cpu"):
        sum_1: "f32[4]" = torch.ops.aten.sum.dim_IntList(x, [1], keep_dim = True)
        neg: "f32[4, 8]" = torch.ops.aten.neg.default(x, 1)
        exp: "f32[4, 8]" = torch.ops.aten.exp.default()
        split = torch.ops.aten.split.Tensor(x, 4, 1)
        getitem_2: "f32[4, 4]" = split[2]
        return (sum_1, neg, exp, getitem_2)
