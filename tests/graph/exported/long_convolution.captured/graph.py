class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "Sym(s77)", arg1_1: "Sym(s27)", arg2_1: "Sym(s53)", arg3_1: "f32[s77, s27, s53][s27*s53, s53, 1]cpu"):
        arange: "i64[s27][1]cpu" = torch.ops.aten.arange.default(arg1_1, device = device(type='cpu'), pin_memory = False)
        _to_copy: "f32[s27][1]cpu" = torch.ops.aten._to_copy.default(arange, dtype = torch.float32);  arange = None
        mul: "f32[s27][1]cpu" = torch.ops.aten.mul.Tensor(_to_copy, -0.3);  _to_copy = None
        exp: "f32[s27][1]cpu" = torch.ops.aten.exp.default(mul);  mul = None
        mul_1: "Sym(2*s27)" = 2 * arg1_1
        constant_pad_nd: "f32[2*s27][1]cpu" = torch.ops.aten.constant_pad_nd.default(exp, [0, arg1_1]);  exp = None
        _fft_r2c: "c64[s27 + 1][1]cpu" = torch.ops.aten._fft_r2c.default(constant_pad_nd, [0], 0, True);  constant_pad_nd = None
        constant_pad_nd_1: "f32[s77, 2*s27, s53][2*s27*s53, s53, 1]cpu" = torch.ops.aten.constant_pad_nd.default(arg3_1, [0, 0, 0, arg1_1, 0, 0])
        _fft_r2c_1: "c64[s77, s27 + 1, s53][s53*(s27 + 1), 1, s27 + 1]cpu" = torch.ops.aten._fft_r2c.default(constant_pad_nd_1, [1], 0, True);  constant_pad_nd_1 = None
        unsqueeze: "c64[1, s27 + 1][s27 + 1, 1]cpu" = torch.ops.aten.unsqueeze.default(_fft_r2c, 0);  _fft_r2c = None
        slice_1: "c64[1, s27 + 1][s27 + 1, 1]cpu" = torch.ops.aten.slice.Tensor(unsqueeze, 1, 0, 9223372036854775807);  unsqueeze = None
        unsqueeze_1: "c64[1, s27 + 1, 1][s27 + 1, 1, 1]cpu" = torch.ops.aten.unsqueeze.default(slice_1, 2);  slice_1 = None
        mul_2: "c64[s77, s27 + 1, s53][s53*(s27 + 1), 1, s27 + 1]cpu" = torch.ops.aten.mul.Tensor(_fft_r2c_1, unsqueeze_1);  _fft_r2c_1 = unsqueeze_1 = None
        _fft_c2r: "f32[s77, 2*s27, s53][2*s27*s53, 1, 2*s27]cpu" = torch.ops.aten._fft_c2r.default(mul_2, [1], 2, mul_1);  mul_2 = mul_1 = None
        slice_2: "f32[s77, 2*s27, s53][2*s27*s53, 1, 2*s27]cpu" = torch.ops.aten.slice.Tensor(_fft_c2r, 0, 0, 9223372036854775807);  _fft_c2r = None
        slice_3: "f32[s77, s27, s53][2*s27*s53, 1, 2*s27]cpu" = torch.ops.aten.slice.Tensor(slice_2, 1, 0, arg1_1);  slice_2 = arg1_1 = None
        _to_copy_1: "c64[s77, s27, s53][s27*s53, s53, 1]cpu" = torch.ops.aten._to_copy.default(arg3_1, dtype = torch.complex64);  arg3_1 = None
        _fft_c2c: "c64[s77, s27, s53][s27*s53, s53, 1]cpu" = torch.ops.aten._fft_c2c.default(_to_copy_1, [1, 2], 1, True);  _to_copy_1 = None
        view_as_real: "f32[s77, s27, s53, 2][2*s27*s53, 2*s53, 2, 1]cpu" = torch.ops.aten.view_as_real.default(_fft_c2c);  _fft_c2c = None
        select: "f32[s77, s27, s53][2*s27*s53, 2*s53, 2]cpu" = torch.ops.aten.select.int(view_as_real, 3, 0);  view_as_real = None
        return (slice_3, select)
