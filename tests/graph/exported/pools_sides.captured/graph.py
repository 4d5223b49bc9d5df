class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "Sym(s77)", arg1_1: "Sym(s53)", arg2_1: "Sym(s0)", arg3_1: "f32[s77, s77, s53, s0][s0*s53*s77, s0*s53, s0, 1]cpu"):
        max_pool2d_with_indices = torch.ops.aten.max_pool2d_with_indices.default(arg3_1, [2, 2])
        getitem: "f32[s77, s77, (s53//2), (s0//2)][s77*Max(1, (s0//2))*Max(1, (s53//2)), Max(1, (s0//2))*Max(1, (s53//2)), Max(1, (s0//2)), 1]cpu" = max_pool2d_with_indices[0];  max_pool2d_with_indices = None
        max_pool2d_with_indices_1 = torch.ops.aten.max_pool2d_with_indices.default(getitem, [3, 3], [2, 2], [1, 1]);  getitem = None
        getitem_2: "f32[s77, s77, (((((s53//2)) - 1)//2)) + 1, (((((s0//2)) - 1)//2)) + 1][s77*Max(1, (((((s0//2)) - 1)//2)) + 1)*Max(1, (((((s53//2)) - 1)//2)) + 1), Max(1, (((((s0//2)) - 1)//2)) + 1)*Max(1, (((((s53//2)) - 1)//2)) + 1), Max(1, (((((s0//2)) - 1)//2)) + 1), 1]cpu" = max_pool2d_with_indices_1[0];  max_pool2d_with_indices_1 = None
        avg_pool2d: "f32[s77, s77, (((s53 - 1)//2)) + 1, (((s0 - 1)//2)) + 1][s77*((((s0 - 1)//2)) + 1)*((((s53 - 1)//2)) + 1), ((((s0 - 1)//2)) + 1)*((((s53 - 1)//2)) + 1), (((s0 - 1)//2)) + 1, 1]cpu" = torch.ops.aten.avg_pool2d.default(arg3_1, [2, 2], [], [0, 0], True)
        mean: "f32[s77, s77][s77, 1]cpu" = torch.ops.aten.mean.dim(arg3_1, [2, 3]);  arg3_1 = None
        sym_size_int: "Sym((((((s53//2)) - 1)//2)) + 1)" = torch.ops.aten.sym_size.int(getitem_2, 2)
        mul: "Sym(2*(((((s53//2)) - 1)//2)) + 2)" = sym_size_int * 2
        sym_size_int_1: "Sym((((((s0//2)) - 1)//2)) + 1)" = torch.ops.aten.sym_size.int(getitem_2, 3)
        mul_1: "Sym(2*(((((s0//2)) - 1)//2)) + 2)" = sym_size_int_1 * 2
        arange: "f32[2*(((((s53//2)) - 1)//2)) + 2][1]cpu" = torch.ops.aten.arange.default(mul, dtype = torch.float32, device = device(type='cpu'), pin_memory = False);  mul = None
        add: "f32[2*(((((s53//2)) - 1)//2)) + 2][1]cpu" = torch.ops.aten.add.Tensor(arange, 0.0);  arange = None
        scalar_tensor_default: "i64[][]cpu" = torch.ops.aten.scalar_tensor.default(1, dtype = torch.int64)
        scalar_tensor_default_1: "i64[][]cpu" = torch.ops.aten.scalar_tensor.default(-1, dtype = torch.int64)
        scalar_tensor_default_2: "f32[][]cpu" = torch.ops.aten.scalar_tensor.default(arg1_1)
        scalar_tensor_default_3: "i64[][]cpu" = torch.ops.aten.scalar_tensor.default(2, dtype = torch.int64)
        div_tensor_mode: "f32[][]cpu" = torch.ops.aten.div.Tensor_mode(scalar_tensor_default_2, scalar_tensor_default_3, rounding_mode = 'floor');  scalar_tensor_default_2 = scalar_tensor_default_3 = None
        add_tensor: "f32[][]cpu" = torch.ops.aten.add.Tensor(scalar_tensor_default_1, div_tensor_mode);  scalar_tensor_default_1 = div_tensor_mode = None
        scalar_tensor_default_4: "i64[][]cpu" = torch.ops.aten.scalar_tensor.default(2, dtype = torch.int64)
        div_tensor_mode_1: "f32[][]cpu" = torch.ops.aten.div.Tensor_mode(add_tensor, scalar_tensor_default_4, rounding_mode = 'floor');  add_tensor = scalar_tensor_default_4 = None
        add_tensor_1: "f32[][]cpu" = torch.ops.aten.add.Tensor(scalar_tensor_default, div_tensor_mode_1);  scalar_tensor_default = div_tensor_mode_1 = None
        convert_element_type_default: "f64[][]cpu" = torch.ops.prims.convert_element_type.default(add_tensor_1, torch.float64);  add_tensor_1 = None
        scalar_tensor_default_5: "f64[][]cpu" = torch.ops.aten.scalar_tensor.default(2.0, dtype = torch.float64)
        mul_tensor: "f64[][]cpu" = torch.ops.aten.mul.Tensor(scalar_tensor_default_5, convert_element_type_default);  scalar_tensor_default_5 = None
        true_divide_tensor: "f64[][]cpu" = torch.ops.aten.true_divide.Tensor(convert_element_type_default, mul_tensor);  convert_element_type_default = mul_tensor = None
        convert_element_type_default_1: "f32[][]cpu" = torch.ops.prims.convert_element_type.default(true_divide_tensor, torch.float32);  true_divide_tensor = None
        mul_tensor_1: "f32[2*(((((s53//2)) - 1)//2)) + 2][1]cpu" = torch.ops.aten.mul.Tensor(add, convert_element_type_default_1);  add = convert_element_type_default_1 = None
        _to_copy: "i64[2*(((((s53//2)) - 1)//2)) + 2][1]cpu" = torch.ops.aten._to_copy.default(mul_tensor_1, dtype = torch.int64);  mul_tensor_1 = None
        unsqueeze: "i64[2*(((((s53//2)) - 1)//2)) + 2, 1][1, 1]cpu" = torch.ops.aten.unsqueeze.default(_to_copy, -1);  _to_copy = None
        arange_1: "f32[2*(((((s0//2)) - 1)//2)) + 2][1]cpu" = torch.ops.aten.arange.default(mul_1, dtype = torch.float32, device = device(type='cpu'), pin_memory = False);  mul_1 = None
        add_1: "f32[2*(((((s0//2)) - 1)//2)) + 2][1]cpu" = torch.ops.aten.add.Tensor(arange_1, 0.0);  arange_1 = None
        scalar_tensor_default_6: "i64[][]cpu" = torch.ops.aten.scalar_tensor.default(1, dtype = torch.int64)
        scalar_tensor_default_7: "i64[][]cpu" = torch.ops.aten.scalar_tensor.default(-1, dtype = torch.int64)
        scalar_tensor_default_8: "f32[][]cpu" = torch.ops.aten.scalar_tensor.default(arg2_1)
        scalar_tensor_default_9: "i64[][]cpu" = torch.ops.aten.scalar_tensor.default(2, dtype = torch.int64)
        div_tensor_mode_2: "f32[][]cpu" = torch.ops.aten.div.Tensor_mode(scalar_tensor_default_8, scalar_tensor_default_9, rounding_mode = 'floor');  scalar_tensor_default_8 = scalar_tensor_default_9 = None
        add_tensor_2: "f32[][]cpu" = torch.ops.aten.add.Tensor(scalar_tensor_default_7, div_tensor_mode_2);  scalar_tensor_default_7 = div_tensor_mode_2 = None
        scalar_tensor_default_10: "i64[][]cpu" = torch.ops.aten.scalar_tensor.default(2, dtype = torch.int64)
        div_tensor_mode_3: "f32[][]cpu" = torch.ops.aten.div.Tensor_mode(add_tensor_2, scalar_tensor_default_10, rounding_mode = 'floor');  add_tensor_2 = scalar_tensor_default_10 = None
        add_tensor_3: "f32[][]cpu" = torch.ops.aten.add.Tensor(scalar_tensor_default_6, div_tensor_mode_3);  scalar_tensor_default_6 = div_tensor_mode_3 = None
        convert_element_type_default_2: "f64[][]cpu" = torch.ops.prims.convert_element_type.default(add_tensor_3, torch.float64);  add_tensor_3 = None
        scalar_tensor_default_11: "f64[][]cpu" = torch.ops.aten.scalar_tensor.default(2.0, dtype = torch.float64)
        mul_tensor_2: "f64[][]cpu" = torch.ops.aten.mul.Tensor(scalar_tensor_default_11, convert_element_type_default_2);  scalar_tensor_default_11 = None
        true_divide_tensor_1: "f64[][]cpu" = torch.ops.aten.true_divide.Tensor(convert_element_type_default_2, mul_tensor_2);  convert_element_type_default_2 = mul_tensor_2 = None
        convert_element_type_default_3: "f32[][]cpu" = torch.ops.prims.convert_element_type.default(true_divide_tensor_1, torch.float32);  true_divide_tensor_1 = None
        mul_tensor_3: "f32[2*(((((s0//2)) - 1)//2)) + 2][1]cpu" = torch.ops.aten.mul.Tensor(add_1, convert_element_type_default_3);  add_1 = convert_element_type_default_3 = None
        _to_copy_1: "i64[2*(((((s0//2)) - 1)//2)) + 2][1]cpu" = torch.ops.aten._to_copy.default(mul_tensor_3, dtype = torch.int64);  mul_tensor_3 = None
        _unsafe_index: "f32[s77, s77, 2*(((((s53//2)) - 1)//2)) + 2, 2*(((((s0//2)) - 1)//2)) + 2][s77*Max(1, 2*(((((s0//2)) - 1)//2)) + 2)*Max(1, 2*(((((s53//2)) - 1)//2)) + 2), Max(1, 2*(((((s0//2)) - 1)//2)) + 2)*Max(1, 2*(((((s53//2)) - 1)//2)) + 2), Max(1, 2*(((((s0//2)) - 1)//2)) + 2), 1]cpu" = torch.ops.aten._unsafe_index.Tensor(getitem_2, [None, None, unsqueeze, _to_copy_1]);  unsqueeze = _to_copy_1 = None
        truediv_2: "Sym(IntTrueDiv((((((s53//2)) - 1)//2)) + 1, s53))" = sym_size_int / arg1_1
        arange_2: "i64[s53][1]cpu" = torch.ops.aten.arange.default(arg1_1, device = device(type='cpu'), pin_memory = False)
        _to_copy_2: "f32[s53][1]cpu" = torch.ops.aten._to_copy.default(arange_2, dtype = torch.float32);  arange_2 = None
        add_2: "f32[s53][1]cpu" = torch.ops.aten.add.Tensor(_to_copy_2, 0.5);  _to_copy_2 = None
        mul_16: "f32[s53][1]cpu" = torch.ops.aten.mul.Tensor(add_2, truediv_2);  add_2 = truediv_2 = None
        sub: "f32[s53][1]cpu" = torch.ops.aten.sub.Tensor(mul_16, 0.5);  mul_16 = None
        clamp: "f32[s53][1]cpu" = torch.ops.aten.clamp.default(sub, 0.0);  sub = None
        view: "f32[s53, 1][1, 1]cpu" = torch.ops.aten.view.default(clamp, [arg1_1, 1]);  clamp = arg1_1 = None
        _to_copy_3: "i64[s53, 1][1, 1]cpu" = torch.ops.aten._to_copy.default(view, dtype = torch.int64)
        add_3: "i64[s53, 1][1, 1]cpu" = torch.ops.aten.add.Tensor(_to_copy_3, 1)
        sub_1: "Sym(((((s53//2)) - 1)//2))" = sym_size_int - 1;  sym_size_int = None
        clamp_1: "i64[s53, 1][1, 1]cpu" = torch.ops.aten.clamp.default(add_3, None, sub_1);  add_3 = sub_1 = None
        truediv_3: "Sym(IntTrueDiv((((((s0//2)) - 1)//2)) + 1, s0))" = sym_size_int_1 / arg2_1
        arange_3: "i64[s0][1]cpu" = torch.ops.aten.arange.default(arg2_1, device = device(type='cpu'), pin_memory = False)
        _to_copy_4: "f32[s0][1]cpu" = torch.ops.aten._to_copy.default(arange_3, dtype = torch.float32);  arange_3 = None
        add_4: "f32[s0][1]cpu" = torch.ops.aten.add.Tensor(_to_copy_4, 0.5);  _to_copy_4 = None
        mul_17: "f32[s0][1]cpu" = torch.ops.aten.mul.Tensor(add_4, truediv_3);  add_4 = truediv_3 = None
        sub_2: "f32[s0][1]cpu" = torch.ops.aten.sub.Tensor(mul_17, 0.5);  mul_17 = None
        clamp_2: "f32[s0][1]cpu" = torch.ops.aten.clamp.default(sub_2, 0.0);  sub_2 = None
        view_1: "f32[s0][1]cpu" = torch.ops.aten.view.default(clamp_2, [arg2_1]);  clamp_2 = arg2_1 = None
        _to_copy_5: "i64[s0][1]cpu" = torch.ops.aten._to_copy.default(view_1, dtype = torch.int64)
        add_5: "i64[s0][1]cpu" = torch.ops.aten.add.Tensor(_to_copy_5, 1)
        sub_3: "Sym(((((s0//2)) - 1)//2))" = sym_size_int_1 - 1;  sym_size_int_1 = None
        clamp_3: "i64[s0][1]cpu" = torch.ops.aten.clamp.default(add_5, None, sub_3);  add_5 = sub_3 = None
        _unsafe_index_1: "f32[s77, s77, s53, s0][s0*s53*s77, s0*s53, s0, 1]cpu" = torch.ops.aten._unsafe_index.Tensor(getitem_2, [None, None, _to_copy_3, _to_copy_5])
        _unsafe_index_2: "f32[s77, s77, s53, s0][s0*s53*s77, s0*s53, s0, 1]cpu" = torch.ops.aten._unsafe_index.Tensor(getitem_2, [None, None, _to_copy_3, clamp_3])
        _unsafe_index_3: "f32[s77, s77, s53, s0][s0*s53*s77, s0*s53, s0, 1]cpu" = torch.ops.aten._unsafe_index.Tensor(getitem_2, [None, None, clamp_1, _to_copy_5])
        _unsafe_index_4: "f32[s77, s77, s53, s0][s0*s53*s77, s0*s53, s0, 1]cpu" = torch.ops.aten._unsafe_index.Tensor(getitem_2, [None, None, clamp_1, clamp_3]);  clamp_1 = clamp_3 = None
        sub_4: "f32[s0][1]cpu" = torch.ops.aten.sub.Tensor(view_1, _to_copy_5);  view_1 = _to_copy_5 = None
        clamp_4: "f32[s0][1]cpu" = torch.ops.aten.clamp.default(sub_4, 0.0, 1.0);  sub_4 = None
        sub_5: "f32[s77, s77, s53, s0][s0*s53*s77, s0*s53, s0, 1]cpu" = torch.ops.aten.sub.Tensor(_unsafe_index_2, _unsafe_index_1);  _unsafe_index_2 = None
        mul_18: "f32[s77, s77, s53, s0][s0*s53*s77, s0*s53, s0, 1]cpu" = torch.ops.aten.mul.Tensor(sub_5, clamp_4);  sub_5 = None
        add_6: "f32[s77, s77, s53, s0][s0*s53*s77, s0*s53, s0, 1]cpu" = torch.ops.aten.add.Tensor(_unsafe_index_1, mul_18);  _unsafe_index_1 = mul_18 = None
        sub_6: "f32[s77, s77, s53, s0][s0*s53*s77, s0*s53, s0, 1]cpu" = torch.ops.aten.sub.Tensor(_unsafe_index_4, _unsafe_index_3);  _unsafe_index_4 = None
        mul_19: "f32[s77, s77, s53, s0][s0*s53*s77, s0*s53, s0, 1]cpu" = torch.ops.aten.mul.Tensor(sub_6, clamp_4);  sub_6 = clamp_4 = None
        add_7: "f32[s77, s77, s53, s0][s0*s53*s77, s0*s53, s0, 1]cpu" = torch.ops.aten.add.Tensor(_unsafe_index_3, mul_19);  _unsafe_index_3 = mul_19 = None
        sub_7: "f32[s53, 1][1, 1]cpu" = torch.ops.aten.sub.Tensor(view, _to_copy_3);  view = _to_copy_3 = None
        clamp_5: "f32[s53, 1][1, 1]cpu" = torch.ops.aten.clamp.default(sub_7, 0.0, 1.0);  sub_7 = None
        sub_8: "f32[s77, s77, s53, s0][s0*s53*s77, s0*s53, s0, 1]cpu" = torch.ops.aten.sub.Tensor(add_7, add_6);  add_7 = None
        mul_20: "f32[s77, s77, s53, s0][s0*s53*s77, s0*s53, s0, 1]cpu" = torch.ops.aten.mul.Tensor(sub_8, clamp_5);  sub_8 = clamp_5 = None
        add_8: "f32[s77, s77, s53, s0][s0*s53*s77, s0*s53, s0, 1]cpu" = torch.ops.aten.add.Tensor(add_6, mul_20);  add_6 = mul_20 = None
        return (getitem_2, avg_pool2d, mean, _unsafe_index, add_8)
