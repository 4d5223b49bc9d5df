class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "Sym(s33)", arg1_1: "Sym(s69)", arg2_1: "Sym(s87)", arg3_1: "f32[s33, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu", arg4_1: "f32[4, 3, 2, 2][12, 4, 2, 1]cpu", arg5_1: "f32[4][1]cpu"):
        floordiv: "Sym((s69//2))" = arg1_1 // 2;  arg1_1 = None
        floordiv_1: "Sym((s87//2))" = arg2_1 // 2;  arg2_1 = None
        arange: "f32[CeilToInt(FloatTrueDiv(ToFloat((s69//2)) - 0.5, 1.0))][1]cpu" = torch.ops.aten.arange.start(0.5, floordiv, device = device(type='cpu'), pin_memory = False)
        arange_1: "f32[CeilToInt(FloatTrueDiv(ToFloat((s87//2)) - 0.5, 1.0))][1]cpu" = torch.ops.aten.arange.start(0.5, floordiv_1, device = device(type='cpu'), pin_memory = False)
        div: "f32[CeilToInt(FloatTrueDiv(ToFloat((s69//2)) - 0.5, 1.0))][1]cpu" = torch.ops.aten.div.Tensor(arange, floordiv)
        div_1: "f32[CeilToInt(FloatTrueDiv(ToFloat((s87//2)) - 0.5, 1.0))][1]cpu" = torch.ops.aten.div.Tensor(arange_1, floordiv_1)
        view: "f32[CeilToInt(FloatTrueDiv(ToFloat((s69//2)) - 0.5, 1.0)), 1][1, 1]cpu" = torch.ops.aten.view.default(div, [-1, 1]);  div = None
        sym_size_int: "Sym(CeilToInt(FloatTrueDiv(ToFloat((s69//2)) - 0.5, 1.0)))" = torch.ops.aten.sym_size.int(arange, 0);  arange = None
        sym_size_int_1: "Sym(CeilToInt(FloatTrueDiv(ToFloat((s87//2)) - 0.5, 1.0)))" = torch.ops.aten.sym_size.int(arange_1, 0);  arange_1 = None
        expand: "f32[CeilToInt(FloatTrueDiv(ToFloat((s69//2)) - 0.5, 1.0)), CeilToInt(FloatTrueDiv(ToFloat((s87//2)) - 0.5, 1.0))][1, 0]cpu" = torch.ops.aten.expand.default(view, [sym_size_int, sym_size_int_1]);  view = None
        view_1: "f32[1, CeilToInt(FloatTrueDiv(ToFloat((s87//2)) - 0.5, 1.0))][CeilToInt(FloatTrueDiv(ToFloat((s87//2)) - 0.5, 1.0)), 1]cpu" = torch.ops.aten.view.default(div_1, [1, -1]);  div_1 = None
        expand_1: "f32[CeilToInt(FloatTrueDiv(ToFloat((s69//2)) - 0.5, 1.0)), CeilToInt(FloatTrueDiv(ToFloat((s87//2)) - 0.5, 1.0))][0, 1]cpu" = torch.ops.aten.expand.default(view_1, [sym_size_int, sym_size_int_1]);  view_1 = None
        stack: "f32[CeilToInt(FloatTrueDiv(ToFloat((s69//2)) - 0.5, 1.0)), CeilToInt(FloatTrueDiv(ToFloat((s87//2)) - 0.5, 1.0)), 2][2*Max(1, CeilToInt(FloatTrueDiv(ToFloat((s87//2)) - 0.5, 1.0))), 2, 1]cpu" = torch.ops.aten.stack.default([expand, expand_1], -1);  expand = expand_1 = None
        mul: "Sym(CeilToInt(FloatTrueDiv(ToFloat((s69//2)) - 0.5, 1.0))*CeilToInt(FloatTrueDiv(ToFloat((s87//2)) - 0.5, 1.0)))" = sym_size_int * sym_size_int_1;  sym_size_int = sym_size_int_1 = None
        view_2: "f32[CeilToInt(FloatTrueDiv(ToFloat((s69//2)) - 0.5, 1.0))*CeilToInt(FloatTrueDiv(ToFloat((s87//2)) - 0.5, 1.0)), 2][2, 1]cpu" = torch.ops.aten.view.default(stack, [mul, 2]);  stack = mul = None
        mul_7: "f32[CeilToInt(FloatTrueDiv(ToFloat((s69//2)) - 0.5, 1.0))*CeilToInt(FloatTrueDiv(ToFloat((s87//2)) - 0.5, 1.0)), 2][2, 1]cpu" = torch.ops.aten.mul.Tensor(view_2, 2);  view_2 = None
        sub: "f32[CeilToInt(FloatTrueDiv(ToFloat((s69//2)) - 0.5, 1.0))*CeilToInt(FloatTrueDiv(ToFloat((s87//2)) - 0.5, 1.0)), 2][2, 1]cpu" = torch.ops.aten.sub.Tensor(mul_7, 1);  mul_7 = None
        convolution: "f32[s33, 4, (s69//2), (s87//2)][4*Max(1, (s69//2))*Max(1, (s87//2)), Max(1, (s69//2))*Max(1, (s87//2)), Max(1, (s87//2)), 1]cpu" = torch.ops.aten.convolution.default(arg3_1, arg4_1, arg5_1, [2, 2], [0, 0], [1, 1], False, [0, 0], 1);  arg3_1 = arg4_1 = arg5_1 = None
        mul_8: "Sym(((s69//2))*((s87//2)))" = floordiv * floordiv_1;  floordiv = floordiv_1 = None
        view_3: "f32[s33, 4, ((s69//2))*((s87//2))][4*Max(1, (s69//2))*Max(1, (s87//2)), Max(1, (s69//2))*Max(1, (s87//2)), 1]cpu" = torch.ops.aten.view.default(convolution, [arg0_1, 4, mul_8]);  convolution = arg0_1 = mul_8 = None
        transpose: "f32[s33, ((s69//2))*((s87//2)), 4][4*Max(1, (s69//2))*Max(1, (s87//2)), 1, Max(1, (s69//2))*Max(1, (s87//2))]cpu" = torch.ops.aten.transpose.int(view_3, 1, 2);  view_3 = None
        sin: "f32[CeilToInt(FloatTrueDiv(ToFloat((s69//2)) - 0.5, 1.0))*CeilToInt(FloatTrueDiv(ToFloat((s87//2)) - 0.5, 1.0)), 2][2, 1]cpu" = torch.ops.aten.sin.default(sub)
        cos: "f32[CeilToInt(FloatTrueDiv(ToFloat((s69//2)) - 0.5, 1.0))*CeilToInt(FloatTrueDiv(ToFloat((s87//2)) - 0.5, 1.0)), 2][2, 1]cpu" = torch.ops.aten.cos.default(sub);  sub = None
        cat: "f32[CeilToInt(FloatTrueDiv(ToFloat((s69//2)) - 0.5, 1.0))*CeilToInt(FloatTrueDiv(ToFloat((s87//2)) - 0.5, 1.0)), 4][4, 1]cpu" = torch.ops.aten.cat.default([sin, cos], -1);  sin = cos = None
        add: "f32[s33, ((s69//2))*((s87//2)), 4][4*Max(1, ((s69//2))*((s87//2))), 1, Max(1, ((s69//2))*((s87//2)))]cpu" = torch.ops.aten.add.Tensor(transpose, cat);  transpose = cat = None
        return (add,)
