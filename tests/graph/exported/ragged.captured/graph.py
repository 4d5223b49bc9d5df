class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "Sym(s77)", arg1_1: "Sym(s27)", arg2_1: "f32[s77, s27][s27, 1]cpu", arg3_1: "Sym(s17)", arg4_1: "f32[s17, s27][s27, 1]cpu"):
        floordiv: "Sym((s77//2))" = arg0_1 // 2
        slice_1: "f32[(s77//2), s27][s27, 1]cpu" = torch.ops.aten.slice.Tensor(arg2_1, 0, 0, floordiv)
        sum_1: "f32[s27][1]cpu" = torch.ops.aten.sum.dim_IntList(slice_1, [0]);  slice_1 = None
        slice_2: "f32[s77 - ((s77//2)), s27][s27, 1]cpu" = torch.ops.aten.slice.Tensor(arg2_1, 0, floordiv, 9223372036854775807);  floordiv = None
        mean: "f32[s27][1]cpu" = torch.ops.aten.mean.dim(slice_2, [0]);  slice_2 = None
        add: "Sym(s17 + s77)" = arg0_1 + arg3_1
        mul: "f32[s27][1]cpu" = torch.ops.aten.mul.Tensor(mean, add);  mean = None
        add_1: "f32[s27][1]cpu" = torch.ops.aten.add.Tensor(sum_1, mul);  sum_1 = mul = None
        mul_1: "Sym(s17*s77)" = arg0_1 * arg3_1
        arange: "i64[s17*s77][1]cpu" = torch.ops.aten.arange.default(mul_1, device = device(type='cpu'), pin_memory = False);  mul_1 = None
        view: "i64[s77, s17][s17, 1]cpu" = torch.ops.aten.view.default(arange, [arg0_1, arg3_1]);  arange = None
        add_2: "Sym(s77 + 1)" = arg0_1 + 1
        remainder: "i64[s77, s17][s17, 1]cpu" = torch.ops.aten.remainder.Scalar(view, add_2);  view = None
        flip: "f32[s17, s27][s27, 1]cpu" = torch.ops.aten.flip.default(arg4_1, [0])
        cat: "f32[s17 + s77, s27][s27, 1]cpu" = torch.ops.aten.cat.default([arg2_1, flip]);  flip = None
        slice_3: "f32[((s17 + s77 + 1)//2), s27][2*s27, 1]cpu" = torch.ops.aten.slice.Tensor(cat, 0, 0, 9223372036854775807, 2);  cat = None
        add_3: "Sym(s17 + 1)" = arg3_1 + 1
        full: "f32[s17 + 1, s77][s77, 1]cpu" = torch.ops.aten.full.default([add_3, arg0_1], 0.5, device = device(type='cpu'), pin_memory = False);  add_3 = None
        cumsum: "f32[s17 + 1, s77][s77, 1]cpu" = torch.ops.aten.cumsum.default(full, 0);  full = None
        mul_2: "Sym(2*s77)" = 2 * arg0_1
        mod: "Sym(Mod(s77, 2))" = arg0_1 % 2;  arg0_1 = None
        sub: "Sym(2*s77 - (Mod(s77, 2)))" = mul_2 - mod;  mul_2 = mod = None
        new_zeros: "f32[2*s77 - (Mod(s77, 2))][1]cpu" = torch.ops.aten.new_zeros.default(arg2_1, [sub], pin_memory = False);  arg2_1 = sub = None
        truediv: "Sym(IntTrueDiv(s17, s77 + 1))" = arg3_1 / add_2;  arg3_1 = add_2 = None
        add_4: "f32[2*s77 - (Mod(s77, 2))][1]cpu" = torch.ops.aten.add.Tensor(new_zeros, truediv);  new_zeros = truediv = None
        repeat: "f32[2*s17, s27][s27, 1]cpu" = torch.ops.aten.repeat.default(arg4_1, [2, 1]);  arg4_1 = None
        slice_4: "f32[s17 + s77, s27][s27, 1]cpu" = torch.ops.aten.slice.Tensor(repeat, 0, 0, add);  repeat = add = None
        return (add_1, remainder, slice_3, cumsum, add_4, slice_4)
