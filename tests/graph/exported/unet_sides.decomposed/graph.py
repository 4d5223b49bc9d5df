ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, p_inner_a_0_weight: "f32[4, 1, 3, 3]", p_inner_a_0_bias: "f32[4]", p_inner_a_1_weight: "f32[4]", p_inner_a_1_bias: "f32[4]", p_inner_b_0_weight: "f32[8, 4, 3, 3]", p_inner_b_0_bias: "f32[8]", p_inner_b_1_weight: "f32[8]", p_inner_b_1_bias: "f32[8]", p_inner_c_0_weight: "f32[4, 8, 3, 3]", p_inner_c_0_bias: "f32[4]", p_inner_c_1_weight: "f32[4]", p_inner_c_1_bias: "f32[4]", p_inner_up_weight: "f32[4, 4, 2, 2]", p_inner_up_bias: "f32[4]", p_inner_d_0_weight: "f32[4, 8, 3, 3]", p_inner_d_0_bias: "f32[4]", p_inner_d_1_weight: "f32[4]", p_inner_d_1_bias: "f32[4]", p_inner_head_weight: "f32[2, 4, 1, 1]", p_inner_head_bias: "f32[2]", a: "f32[2, 1, 4*s39, 4*s94]"):
            convolution: "f32[2, 4, 4*s39, 4*s94]" = torch.ops.aten.convolution.default(a, p_inner_a_0_weight, p_inner_a_0_bias, [1, 1], [1, 1], [1, 1], False, [0, 0], 1);  a = p_inner_a_0_weight = p_inner_a_0_bias = None
            sym_size_int_2: "Sym(4*s39)" = torch.ops.aten.sym_size.int(convolution, 2)
            sym_size_int_3: "Sym(4*s94)" = torch.ops.aten.sym_size.int(convolution, 3)
            mul_5: "Sym(16*s39*s94)" = sym_size_int_2 * sym_size_int_3
            native_group_norm = torch.ops.aten.native_group_norm.default(convolution, p_inner_a_1_weight, p_inner_a_1_bias, 2, 4, mul_5, 2, 1e-05);  convolution = p_inner_a_1_weight = p_inner_a_1_bias = None
            getitem: "f32[2, 4, 4*s39, 4*s94]" = native_group_norm[0];  native_group_norm = None
            sigmoid: "f32[2, 4, 4*s39, 4*s94]" = torch.ops.aten.sigmoid.default(getitem)
            mul_6: "f32[2, 4, 4*s39, 4*s94]" = torch.ops.aten.mul.Tensor(getitem, sigmoid);  getitem = sigmoid = None
            max_pool2d_with_indices = torch.ops.aten.max_pool2d_with_indices.default(mul_6, [2, 2])
            getitem_3: "f32[2, 4, 2*s39, 2*s94]" = max_pool2d_with_indices[0];  max_pool2d_with_indices = None
            convolution_1: "f32[2, 8, 2*s39, 2*s94]" = torch.ops.aten.convolution.default(getitem_3, p_inner_b_0_weight, p_inner_b_0_bias, [1, 1], [1, 1], [1, 1], False, [0, 0], 1);  getitem_3 = p_inner_b_0_weight = p_inner_b_0_bias = None
            sym_size_int_4: "Sym(2*s39)" = torch.ops.aten.sym_size.int(convolution_1, 2)
            sym_size_int_5: "Sym(2*s94)" = torch.ops.aten.sym_size.int(convolution_1, 3)
            mul_7: "Sym(4*s39*s94)" = sym_size_int_4 * sym_size_int_5;  sym_size_int_4 = sym_size_int_5 = None
            native_group_norm_1 = torch.ops.aten.native_group_norm.default(convolution_1, p_inner_b_1_weight, p_inner_b_1_bias, 2, 8, mul_7, 2, 1e-05);  convolution_1 = p_inner_b_1_weight = p_inner_b_1_bias = None
            getitem_5: "f32[2, 8, 2*s39, 2*s94]" = native_group_norm_1[0];  native_group_norm_1 = None
            sigmoid_1: "f32[2, 8, 2*s39, 2*s94]" = torch.ops.aten.sigmoid.default(getitem_5)
            mul_8: "f32[2, 8, 2*s39, 2*s94]" = torch.ops.aten.mul.Tensor(getitem_5, sigmoid_1);  getitem_5 = sigmoid_1 = None
            convolution_2: "f32[2, 4, 2*s39, 2*s94]" = torch.ops.aten.convolution.default(mul_8, p_inner_c_0_weight, p_inner_c_0_bias, [1, 1], [1, 1], [1, 1], False, [0, 0], 1);  mul_8 = p_inner_c_0_weight = p_inner_c_0_bias = None
            native_group_norm_2 = torch.ops.aten.native_group_norm.default(convolution_2, p_inner_c_1_weight, p_inner_c_1_bias, 2, 4, mul_7, 2, 1e-05);  convolution_2 = p_inner_c_1_weight = p_inner_c_1_bias = mul_7 = None
            getitem_8: "f32[2, 4, 2*s39, 2*s94]" = native_group_norm_2[0];  native_group_norm_2 = None
            sigmoid_2: "f32[2, 4, 2*s39, 2*s94]" = torch.ops.aten.sigmoid.default(getitem_8)
            mul_10: "f32[2, 4, 2*s39, 2*s94]" = torch.ops.aten.mul.Tensor(getitem_8, sigmoid_2);  getitem_8 = sigmoid_2 = None
            convolution_3: "f32[2, 4, 4*s39, 4*s94]" = torch.ops.aten.convolution.default(mul_10, p_inner_up_weight, p_inner_up_bias, [2, 2], [0, 0], [1, 1], True, [0, 0], 1);  p_inner_up_weight = p_inner_up_bias = None
            upsample_bilinear2d: "f32[2, 4, 4*s39, 4*s94]" = torch.ops.aten.upsample_bilinear2d.vec(mul_10, [sym_size_int_2, sym_size_int_3], False, None);  mul_10 = sym_size_int_2 = sym_size_int_3 = None
            add: "f32[2, 4, 4*s39, 4*s94]" = torch.ops.aten.add.Tensor(convolution_3, upsample_bilinear2d);  convolution_3 = upsample_bilinear2d = None
            cat: "f32[2, 8, 4*s39, 4*s94]" = torch.ops.aten.cat.default([mul_6, add], 1);  mul_6 = add = None
            convolution_4: "f32[2, 4, 4*s39, 4*s94]" = torch.ops.aten.convolution.default(cat, p_inner_d_0_weight, p_inner_d_0_bias, [1, 1], [1, 1], [1, 1], False, [0, 0], 1);  cat = p_inner_d_0_weight = p_inner_d_0_bias = None
            native_group_norm_3 = torch.ops.aten.native_group_norm.default(convolution_4, p_inner_d_1_weight, p_inner_d_1_bias, 2, 4, mul_5, 2, 1e-05);  convolution_4 = p_inner_d_1_weight = p_inner_d_1_bias = mul_5 = None
            getitem_11: "f32[2, 4, 4*s39, 4*s94]" = native_group_norm_3[0];  native_group_norm_3 = None
            sigmoid_3: "f32[2, 4, 4*s39, 4*s94]" = torch.ops.aten.sigmoid.default(getitem_11)
            mul_12: "f32[2, 4, 4*s39, 4*s94]" = torch.ops.aten.mul.Tensor(getitem_11, sigmoid_3);  getitem_11 = sigmoid_3 = None
            convolution_5: "f32[2, 2, 4*s39, 4*s94]" = torch.ops.aten.convolution.default(mul_12, p_inner_head_weight, p_inner_head_bias, [1, 1], [0, 0], [1, 1], False, [0, 0], 1);  mul_12 = p_inner_head_weight = p_inner_head_bias = None
            return (convolution_5,)
Graph signature:
    # inputs
    p_inner_a_0_weight: PARAMETER target='inner.a.0.weight'
    p_inner_a_0_bias: PARAMETER target='inner.a.0.bias'
    p_inner_a_1_weight: PARAMETER target='inner.a.1.weight'
    p_inner_a_1_bias: PARAMETER target='inner.a.1.bias'
    p_inner_b_0_weight: PARAMETER target='inner.b.0.weight'
    p_inner_b_0_bias: PARAMETER target='inner.b.0.bias'
    p_inner_b_1_weight: PARAMETER target='inner.b.1.weight'
    p_inner_b_1_bias: PARAMETER target='inner.b.1.bias'
    p_inner_c_0_weight: PARAMETER target='inner.c.0.weight'
    p_inner_c_0_bias: PARAMETER target='inner.c.0.bias'
    p_inner_c_1_weight: PARAMETER target='inner.c.1.weight'
    p_inner_c_1_bias: PARAMETER target='inner.c.1.bias'
    p_inner_up_weight: PARAMETER target='inner.up.weight'
    p_inner_up_bias: PARAMETER target='inner.up.bias'
    p_inner_d_0_weight: PARAMETER target='inner.d.0.weight'
    p_inner_d_0_bias: PARAMETER target='inner.d.0.bias'
    p_inner_d_1_weight: PARAMETER target='inner.d.1.weight'
    p_inner_d_1_bias: PARAMETER target='inner.d.1.bias'
    p_inner_head_weight: PARAMETER target='inner.head.weight'
    p_inner_head_bias: PARAMETER target='inner.head.bias'
    a: USER_INPUT
    # outputs
    convolution_5: USER_OUTPUT
Range constraints: {4*s39: VR[0, int_oo], 4*s94: VR[0, int_oo], s94: VR[2, int_oo], s39: VR[2, int_oo]}
