class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "Sym(s77)", arg1_1: "Sym(s27)", arg2_1: "f32[s77, s27][s27, 1]cpu", arg3_1: "f32[18, 16][16, 1]cpu", arg4_1: "f32[12, 9, 3][27, 3, 1]cpu", arg5_1: "f32[12][1]cpu", arg6_1: "f32[24, 12, 1][12, 1, 1]cpu", arg7_1: "f32[24][1]cpu", arg8_1: "f32[12, 1, 5][5, 5, 1]cpu", arg9_1: "f32[12][1]cpu", arg10_1: "f32[12][1]cpu", arg11_1: "f32[12][1]cpu", arg12_1: "f32[12][1]cpu", arg13_1: "f32[12][1]cpu", arg14_1: "f32[5, 12][12, 1]cpu", arg15_1: "f32[5][1]cpu"):
        unfold: "f32[s77, ((s27//8)) - 1, 16][s27, 8, 1]cpu" = torch.ops.aten.unfold.default(arg2_1, -1, 16, 8);  arg2_1 = None
        permute: "f32[16, 18][1, 16]cpu" = torch.ops.aten.permute.default(arg3_1, [1, 0]);  arg3_1 = None
        sym_size_int_1: "Sym(((s27//8)) - 1)" = torch.ops.aten.sym_size.int(unfold, 1)
        expand: "f32[s77, ((s27//8)) - 1, 16][s27, 8, 1]cpu" = torch.ops.aten.expand.default(unfold, [arg0_1, sym_size_int_1, 16]);  unfold = None
        view: "f32[s77, ((s27//8)) - 1, 16][s27, 8, 1]cpu" = torch.ops.aten.view.default(expand, [arg0_1, sym_size_int_1, 16]);  expand = None
        expand_1: "f32[s77, 16, 18][0, 1, 16]cpu" = torch.ops.aten.expand.default(permute, [arg0_1, 16, 18]);  permute = None
        view_1: "f32[s77, 16, 18][0, 1, 16]cpu" = torch.ops.aten.view.default(expand_1, [arg0_1, 16, 18]);  expand_1 = None
        bmm: "f32[s77, ((s27//8)) - 1, 18][18*Max(1, ((s27//8)) - 1), 18, 1]cpu" = torch.ops.aten.bmm.default(view, view_1);  view = view_1 = None
        view_2: "f32[s77, ((s27//8)) - 1, 18][18*Max(1, ((s27//8)) - 1), 18, 1]cpu" = torch.ops.aten.view.default(bmm, [arg0_1, sym_size_int_1, 18]);  bmm = sym_size_int_1 = None
        slice_1: "f32[s77, ((s27//8)) - 1, 9][18*Max(1, ((s27//8)) - 1), 18, 1]cpu" = torch.ops.aten.slice.Tensor(view_2, 2, 0, 9)
        pow_1: "f32[s77, ((s27//8)) - 1, 9][9*Max(1, ((s27//8)) - 1), 9, 1]cpu" = torch.ops.aten.pow.Tensor_Scalar(slice_1, 2);  slice_1 = None
        slice_2: "f32[s77, ((s27//8)) - 1, 9][18*Max(1, ((s27//8)) - 1), 18, 1]cpu" = torch.ops.aten.slice.Tensor(view_2, 2, 9, 9223372036854775807);  view_2 = None
        pow_2: "f32[s77, ((s27//8)) - 1, 9][9*Max(1, ((s27//8)) - 1), 9, 1]cpu" = torch.ops.aten.pow.Tensor_Scalar(slice_2, 2);  slice_2 = None
        add: "f32[s77, ((s27//8)) - 1, 9][9*Max(1, ((s27//8)) - 1), 9, 1]cpu" = torch.ops.aten.add.Tensor(pow_1, pow_2);  pow_1 = pow_2 = None
        add_1: "f32[s77, ((s27//8)) - 1, 9][9*Max(1, ((s27//8)) - 1), 9, 1]cpu" = torch.ops.aten.add.Tensor(add, 1e-05);  add = None
        log: "f32[s77, ((s27//8)) - 1, 9][9*Max(1, ((s27//8)) - 1), 9, 1]cpu" = torch.ops.aten.log.default(add_1);  add_1 = None
        transpose: "f32[s77, 9, ((s27//8)) - 1][9*Max(1, ((s27//8)) - 1), 1, 9]cpu" = torch.ops.aten.transpose.int(log, 1, 2);  log = None
        convolution: "f32[s77, 12, (s27//16)][12*Max(1, (s27//16)), Max(1, (s27//16)), 1]cpu" = torch.ops.aten.convolution.default(transpose, arg4_1, arg5_1, [2], [1], [1], False, [0], 1);  transpose = arg4_1 = arg5_1 = None
        convolution_1: "f32[s77, 24, (s27//16)][24*Max(1, (s27//16)), Max(1, (s27//16)), 1]cpu" = torch.ops.aten.convolution.default(convolution, arg6_1, arg7_1, [1], [0], [1], False, [0], 1);  convolution = arg6_1 = arg7_1 = None
        glu: "f32[s77, 12, (s27//16)][12*Max(1, (s27//16)), Max(1, (s27//16)), 1]cpu" = torch.ops.aten.glu.default(convolution_1, 1);  convolution_1 = None
        convolution_2: "f32[s77, 12, (s27//16)][12*Max(1, (s27//16)), Max(1, (s27//16)), 1]cpu" = torch.ops.aten.convolution.default(glu, arg8_1, arg9_1, [1], [2], [1], False, [0], 12);  glu = arg8_1 = arg9_1 = None
        sym_size_int_2: "Sym((s27//16))" = torch.ops.aten.sym_size.int(convolution_2, 2)
        _native_batch_norm_legit_no_training = torch.ops.aten._native_batch_norm_legit_no_training.default(convolution_2, arg12_1, arg13_1, arg10_1, arg11_1, 0.1, 1e-05);  convolution_2 = arg12_1 = arg13_1 = arg10_1 = arg11_1 = None
        getitem: "f32[s77, 12, (s27//16)][12*Max(1, (s27//16)), Max(1, (s27//16)), 1]cpu" = _native_batch_norm_legit_no_training[0];  _native_batch_norm_legit_no_training = None
        silu: "f32[s77, 12, (s27//16)][12*Max(1, (s27//16)), Max(1, (s27//16)), 1]cpu" = torch.ops.aten.silu.default(getitem);  getitem = None
        transpose_1: "f32[s77, (s27//16), 12][12*Max(1, (s27//16)), 1, Max(1, (s27//16))]cpu" = torch.ops.aten.transpose.int(silu, 1, 2);  silu = None
        t: "f32[12, 5][1, 12]cpu" = torch.ops.aten.t.default(arg14_1);  arg14_1 = None
        mul_25: "Sym(s77*((s27//16)))" = arg0_1 * sym_size_int_2
        clone: "f32[s77, (s27//16), 12][12*Max(1, (s27//16)), 12, 1]cpu" = torch.ops.aten.clone.default(transpose_1, memory_format = torch.contiguous_format);  transpose_1 = None
        _unsafe_view: "f32[s77*((s27//16)), 12][12, 1]cpu" = torch.ops.aten._unsafe_view.default(clone, [mul_25, 12]);  clone = mul_25 = None
        mm: "f32[s77*((s27//16)), 5][5, 1]cpu" = torch.ops.aten.mm.default(_unsafe_view, t);  _unsafe_view = t = None
        _unsafe_view_1: "f32[s77, (s27//16), 5][5*((s27//16)), 5, 1]cpu" = torch.ops.aten._unsafe_view.default(mm, [arg0_1, sym_size_int_2, 5]);  mm = arg0_1 = sym_size_int_2 = None
        add_2: "f32[s77, (s27//16), 5][5*Max(1, (s27//16)), 5, 1]cpu" = torch.ops.aten.add.Tensor(_unsafe_view_1, arg15_1);  _unsafe_view_1 = arg15_1 = None
        _log_softmax: "f32[s77, (s27//16), 5][5*Max(1, (s27//16)), 5, 1]cpu" = torch.ops.aten._log_softmax.default(add_2, -1, False);  add_2 = None
        return (_log_softmax,)
