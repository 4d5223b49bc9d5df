ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, p_inner_qkv_weight: "f32[96, 32]", p_inner_out_weight: "f32[32, 32]", b_inner_keys: "f32[1, 4, 16, 8]", b_inner_values: "f32[1, 4, 16, 8]", a: "f32[1, s52, 32]", b: "i64[s52]"):
            linear: "f32[1, s52, 96]" = torch.ops.aten.linear.default(a, p_inner_qkv_weight);  a = p_inner_qkv_weight = None
            view: "f32[1, s52, 3, 4, 8]" = torch.ops.aten.view.default(linear, [1, -1, 3, 4, 8]);  linear = None
            permute: "f32[3, 1, 4, s52, 8]" = torch.ops.aten.permute.default(view, [2, 0, 3, 1, 4]);  view = None
            unbind = torch.ops.aten.unbind.int(permute);  permute = None
            getitem: "f32[1, 4, s52, 8]" = unbind[0]
            getitem_1: "f32[1, 4, s52, 8]" = unbind[1]
            getitem_2: "f32[1, 4, s52, 8]" = unbind[2];  unbind = None
            index_copy: "f32[1, 4, 16, 8]" = torch.ops.aten.index_copy.default(b_inner_keys, 2, b, getitem_1);  b_inner_keys = getitem_1 = None
            index_copy_1: "f32[1, 4, 16, 8]" = torch.ops.aten.index_copy.default(b_inner_values, 2, b, getitem_2);  b_inner_values = getitem_2 = None
            arange: "i64[16]" = torch.ops.aten.arange.default(16, device = device(type='cpu'), pin_memory = False)
            unsqueeze: "i64[1, 16]" = torch.ops.aten.unsqueeze.default(arange, 0);  arange = None
            slice_1: "i64[s52]" = torch.ops.aten.slice.Tensor(b, 0, 0, 9223372036854775807);  b = None
            unsqueeze_1: "i64[s52, 1]" = torch.ops.aten.unsqueeze.default(slice_1, 1);  slice_1 = None
            le_1: "b8[s52, 16]" = torch.ops.aten.le.Tensor(unsqueeze, unsqueeze_1);  unsqueeze = unsqueeze_1 = None
            scaled_dot_product_attention: "f32[1, 4, s52, 8]" = torch.ops.aten.scaled_dot_product_attention.default(getitem, index_copy, index_copy_1, le_1);  getitem = le_1 = None
            transpose: "f32[1, s52, 4, 8]" = torch.ops.aten.transpose.int(scaled_dot_product_attention, 1, 2);  scaled_dot_product_attention = None
            flatten: "f32[1, s52, 32]" = torch.ops.aten.flatten.using_ints(transpose, 2);  transpose = None
            linear_1: "f32[1, s52, 32]" = torch.ops.aten.linear.default(flatten, p_inner_out_weight);  flatten = p_inner_out_weight = None
            return (linear_1, index_copy, index_copy_1)
Graph signature:
    # inputs
    p_inner_qkv_weight: PARAMETER target='inner.qkv.weight'
    p_inner_out_weight: PARAMETER target='inner.out.weight'
    b_inner_keys: BUFFER target='inner.keys' persistent=True
    b_inner_values: BUFFER target='inner.values' persistent=True
    a: USER_INPUT
    b: USER_INPUT
    # outputs
    linear_1: USER_OUTPUT
    index_copy: USER_OUTPUT
    index_copy_1: USER_OUTPUT
Range constraints: {s52: VR[0, int_oo]}
