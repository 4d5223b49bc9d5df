ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, p_inner_message_weight: "f32[8, 10]", p_inner_message_bias: "f32[8]", p_inner_update_weight: "f32[5, 13]", p_inner_update_bias: "f32[5]", a: "f32[s6, 5]", b: "i64[2, s43]", c: "f32[s43]"):
            sym_size_int_3: "Sym(s6)" = torch.ops.aten.sym_size.int(a, 0)
            select: "i64[s43]" = torch.ops.aten.select.int(b, 0, 0)
            select_1: "i64[s43]" = torch.ops.aten.select.int(b, 0, 1);  b = None
            index: "f32[s43, 5]" = torch.ops.aten.index.Tensor(a, [select]);  select = None
            index_1: "f32[s43, 5]" = torch.ops.aten.index.Tensor(a, [select_1])
            cat: "f32[s43, 10]" = torch.ops.aten.cat.default([index, index_1], -1);  index = index_1 = None
            permute: "f32[10, 8]" = torch.ops.aten.permute.default(p_inner_message_weight, [1, 0]);  p_inner_message_weight = None
            addmm: "f32[s43, 8]" = torch.ops.aten.addmm.default(p_inner_message_bias, cat, permute);  p_inner_message_bias = cat = permute = None
            relu: "f32[s43, 8]" = torch.ops.aten.relu.default(addmm);  addmm = None
            slice_1: "f32[s43]" = torch.ops.aten.slice.Tensor(c, 0, 0, 9223372036854775807)
            unsqueeze: "f32[s43, 1]" = torch.ops.aten.unsqueeze.default(slice_1, 1);  slice_1 = None
            mul: "f32[s43, 8]" = torch.ops.aten.mul.Tensor(relu, unsqueeze);  relu = unsqueeze = None
            full: "f32[s6, 8]" = torch.ops.aten.full.default([sym_size_int_3, 8], 0, dtype = torch.float32, layout = torch.strided, device = device(type='cpu'), pin_memory = False)
            index_put: "f32[s6, 8]" = torch.ops.aten.index_put.default(full, [select_1], mul, True);  full = mul = None
            full_1: "f32[s6]" = torch.ops.aten.full.default([sym_size_int_3], 0, dtype = torch.float32, layout = torch.strided, device = device(type='cpu'), pin_memory = False);  sym_size_int_3 = None
            full_like: "f32[s43]" = torch.ops.aten.full_like.default(c, 1, pin_memory = False, memory_format = torch.preserve_format)
            scatter_add: "f32[s6]" = torch.ops.aten.scatter_add.default(full_1, 0, select_1, full_like);  full_1 = full_like = None
            clamp: "f32[s6]" = torch.ops.aten.clamp.default(scatter_add, 1)
            slice_2: "f32[s6]" = torch.ops.aten.slice.Tensor(clamp, 0, 0, 9223372036854775807);  clamp = None
            unsqueeze_1: "f32[s6, 1]" = torch.ops.aten.unsqueeze.default(slice_2, 1);  slice_2 = None
            div: "f32[s6, 8]" = torch.ops.aten.div.Tensor(index_put, unsqueeze_1);  index_put = unsqueeze_1 = None
            full_like_1: "f32[s6]" = torch.ops.aten.full_like.default(scatter_add, -1.0, pin_memory = False);  scatter_add = None
            scatter_reduce: "f32[s6]" = torch.ops.aten.scatter_reduce.two(full_like_1, 0, select_1, c, 'amax');  full_like_1 = select_1 = c = None
            cat_1: "f32[s6, 13]" = torch.ops.aten.cat.default([a, div], -1);  a = div = None
            permute_1: "f32[13, 5]" = torch.ops.aten.permute.default(p_inner_update_weight, [1, 0]);  p_inner_update_weight = None
            addmm_1: "f32[s6, 5]" = torch.ops.aten.addmm.default(p_inner_update_bias, cat_1, permute_1);  p_inner_update_bias = cat_1 = permute_1 = None
            return (addmm_1, scatter_reduce)
Graph signature:
    # inputs
    p_inner_message_weight: PARAMETER target='inner.message.weight'
    p_inner_message_bias: PARAMETER target='inner.message.bias'
    p_inner_update_weight: PARAMETER target='inner.update.weight'
    p_inner_update_bias: PARAMETER target='inner.update.bias'
    a: USER_INPUT
    b: USER_INPUT
    c: USER_INPUT
    # outputs
    addmm_1: USER_OUTPUT
    scatter_reduce: USER_OUTPUT
Range constraints: {s6: VR[0, int_oo], s43: VR[0, int_oo]}
