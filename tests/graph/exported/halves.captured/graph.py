class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "Sym(s33)", arg1_1: "Sym(s50)", arg2_1: "Sym(s69)", arg3_1: "f32[s33, s50, s69][s50*s69, s69, 1]cpu"):
        add: "Sym(s50 + 2)" = arg1_1 + 2;  arg1_1 = None
        sub: "Sym(s50 + 1)" = add - 1
        floordiv: "Sym(((s50 + 1)//2))" = sub // 2;  sub = None
        split = torch.ops.aten.split.Tensor(arg3_1, floordiv, 1);  floordiv = None
        getitem: "f32[s33, ((s50 + 1)//2), s69][s50*s69, s69, 1]cpu" = split[0]
        getitem_1: "f32[s33, s50 - (((s50 + 1)//2)), s69][s50*s69, s69, 1]cpu" = split[1];  split = None
        floordiv_1: "Sym(((s50 + 2)//3))" = add // 3;  add = None
        sym_max: "Sym(Max(1, ((s50 + 2)//3)))" = torch.sym_max(floordiv_1, 1);  floordiv_1 = None
        split_1 = torch.ops.aten.split.Tensor(arg3_1, sym_max, 1);  arg3_1 = sym_max = None
        getitem_2: "f32[s33, Max(1, ((s50 + 2)//3)), s69][s50*s69, s69, 1]cpu" = split_1[0]
        getitem_3: "f32[s33, Max(1, ((s50 + 2)//3)), s69][s50*s69, s69, 1]cpu" = split_1[1]
        getitem_4: "f32[s33, s50 - 2*Max(1, ((s50 + 2)//3)), s69][s50*s69, s69, 1]cpu" = split_1[2];  split_1 = None
        sigmoid: "f32[s33, s50 - (((s50 + 1)//2)), s69][s69*Max(1, s50 - (((s50 + 1)//2))), s69, 1]cpu" = torch.ops.aten.sigmoid.default(getitem_1)
        mul: "f32[s33, ((s50 + 1)//2), s69][s69*Max(1, ((s50 + 1)//2)), s69, 1]cpu" = torch.ops.aten.mul.Tensor(getitem, sigmoid);  sigmoid = None
        sum_1: "f32[s33, s69][s69, 1]cpu" = torch.ops.aten.sum.dim_IntList(getitem_2, [1]);  getitem_2 = None
        sum_2: "f32[s33, s69][s69, 1]cpu" = torch.ops.aten.sum.dim_IntList(getitem_3, [1]);  getitem_3 = None
        add_2: "f32[s33, s69][s69, 1]cpu" = torch.ops.aten.add.Tensor(sum_1, sum_2);  sum_1 = sum_2 = None
        sum_3: "f32[s33, s69][s69, 1]cpu" = torch.ops.aten.sum.dim_IntList(getitem_4, [1]);  getitem_4 = None
        sub_1: "f32[s33, s69][s69, 1]cpu" = torch.ops.aten.sub.Tensor(add_2, sum_3);  add_2 = sum_3 = None
        cat: "f32[s33, s50, s69][s50*s69, s69, 1]cpu" = torch.ops.aten.cat.default([getitem_1, getitem], 1);  getitem_1 = getitem = None
        return (mul, sub_1, cat)
