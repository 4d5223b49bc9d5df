class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "f32[1, 3, 4, 5][60, 20, 5, 1]cpu", arg1_1: "Sym(s33)", arg2_1: "Sym(s69)", arg3_1: "Sym(s87)", arg4_1: "f32[s33, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu"):
        truediv: "Sym(IntTrueDiv(4, s69))" = 4 / arg2_1
        truediv_1: "Sym(IntTrueDiv(5, s87))" = 5 / arg3_1
        arange: "i64[s69][1]cpu" = torch.ops.aten.arange.default(arg2_1, device = device(type='cpu'), pin_memory = False)
        _to_copy: "f32[s69][1]cpu" = torch.ops.aten._to_copy.default(arange, dtype = torch.float32);  arange = None
        arange_1: "i64[s87][1]cpu" = torch.ops.aten.arange.default(arg3_1, device = device(type='cpu'), pin_memory = False)
        _to_copy_1: "f32[s87][1]cpu" = torch.ops.aten._to_copy.default(arange_1, dtype = torch.float32);  arange_1 = None
        add: "f32[s87][1]cpu" = torch.ops.aten.add.Tensor(_to_copy_1, 0.5);  _to_copy_1 = None
        mul: "f32[s87][1]cpu" = torch.ops.aten.mul.Tensor(add, truediv_1);  add = truediv_1 = None
        sub: "f32[s87][1]cpu" = torch.ops.aten.sub.Tensor(mul, 0.5);  mul = None
        add_1: "f32[s69][1]cpu" = torch.ops.aten.add.Tensor(_to_copy, 0.5);  _to_copy = None
        mul_1: "f32[s69][1]cpu" = torch.ops.aten.mul.Tensor(add_1, truediv);  add_1 = truediv = None
        sub_1: "f32[s69][1]cpu" = torch.ops.aten.sub.Tensor(mul_1, 0.5);  mul_1 = None
        unsqueeze: "f32[s69, 1][1, 1]cpu" = torch.ops.aten.unsqueeze.default(sub_1, -1);  sub_1 = None
        floor: "f32[s87][1]cpu" = torch.ops.aten.floor.default(sub)
        floor_1: "f32[s69, 1][1, 1]cpu" = torch.ops.aten.floor.default(unsqueeze)
        sub_2: "f32[s69, 1][1, 1]cpu" = torch.ops.aten.sub.Tensor(unsqueeze, floor_1);  unsqueeze = None
        clamp: "f32[s69, 1][1, 1]cpu" = torch.ops.aten.clamp.default(sub_2, 0.0, 1.0);  sub_2 = None
        sub_3: "f32[s87][1]cpu" = torch.ops.aten.sub.Tensor(sub, floor);  sub = None
        clamp_1: "f32[s87][1]cpu" = torch.ops.aten.clamp.default(sub_3, 0.0, 1.0);  sub_3 = None
        _to_copy_2: "i64[s87][1]cpu" = torch.ops.aten._to_copy.default(floor, dtype = torch.int64);  floor = None
        _to_copy_3: "i64[s69, 1][1, 1]cpu" = torch.ops.aten._to_copy.default(floor_1, dtype = torch.int64);  floor_1 = None
        sub_4: "i64[s69, 1][1, 1]cpu" = torch.ops.aten.sub.Tensor(_to_copy_3, 1)
        add_2: "i64[s69, 1][1, 1]cpu" = torch.ops.aten.add.Tensor(_to_copy_3, 1)
        add_3: "i64[s69, 1][1, 1]cpu" = torch.ops.aten.add.Tensor(_to_copy_3, 2)
        sub_5: "i64[s87][1]cpu" = torch.ops.aten.sub.Tensor(_to_copy_2, 1)
        add_4: "i64[s87][1]cpu" = torch.ops.aten.add.Tensor(_to_copy_2, 1)
        add_5: "i64[s87][1]cpu" = torch.ops.aten.add.Tensor(_to_copy_2, 2)
        rsub: "f32[s87][1]cpu" = torch.ops.aten.rsub.Scalar(clamp_1, 1.0)
        stack: "f32[2, s87][s87, 1]cpu" = torch.ops.aten.stack.default([clamp_1, rsub]);  rsub = None
        add_6: "f32[s87][1]cpu" = torch.ops.aten.add.Tensor(clamp_1, 1.0)
        rsub_1: "f32[s87][1]cpu" = torch.ops.aten.rsub.Scalar(clamp_1, 2.0);  clamp_1 = None
        stack_1: "f32[2, s87][s87, 1]cpu" = torch.ops.aten.stack.default([add_6, rsub_1]);  add_6 = rsub_1 = None
        mul_2: "f32[2, s87][s87, 1]cpu" = torch.ops.aten.mul.Tensor(stack_1, -0.75)
        sub_6: "f32[2, s87][s87, 1]cpu" = torch.ops.aten.sub.Tensor(mul_2, -3.75);  mul_2 = None
        mul_3: "f32[2, s87][s87, 1]cpu" = torch.ops.aten.mul.Tensor(sub_6, stack_1);  sub_6 = None
        add_7: "f32[2, s87][s87, 1]cpu" = torch.ops.aten.add.Tensor(mul_3, -6.0);  mul_3 = None
        mul_4: "f32[2, s87][s87, 1]cpu" = torch.ops.aten.mul.Tensor(add_7, stack_1);  add_7 = stack_1 = None
        sub_7: "f32[2, s87][s87, 1]cpu" = torch.ops.aten.sub.Tensor(mul_4, -3.0);  mul_4 = None
        mul_5: "f32[2, s87][s87, 1]cpu" = torch.ops.aten.mul.Tensor(stack, 1.25)
        sub_8: "f32[2, s87][s87, 1]cpu" = torch.ops.aten.sub.Tensor(mul_5, 2.25);  mul_5 = None
        mul_6: "f32[2, s87][s87, 1]cpu" = torch.ops.aten.mul.Tensor(sub_8, stack);  sub_8 = None
        mul_7: "f32[2, s87][s87, 1]cpu" = torch.ops.aten.mul.Tensor(mul_6, stack);  mul_6 = stack = None
        add_8: "f32[2, s87][s87, 1]cpu" = torch.ops.aten.add.Tensor(mul_7, 1);  mul_7 = None
        unbind = torch.ops.aten.unbind.int(sub_7);  sub_7 = None
        getitem: "f32[s87][1]cpu" = unbind[0]
        getitem_1: "f32[s87][1]cpu" = unbind[1];  unbind = None
        unbind_1 = torch.ops.aten.unbind.int(add_8);  add_8 = None
        getitem_2: "f32[s87][1]cpu" = unbind_1[0]
        getitem_3: "f32[s87][1]cpu" = unbind_1[1];  unbind_1 = None
        rsub_2: "f32[s69, 1][1, 1]cpu" = torch.ops.aten.rsub.Scalar(clamp, 1.0)
        stack_2: "f32[2, s69, 1][s69, 1, 1]cpu" = torch.ops.aten.stack.default([clamp, rsub_2]);  rsub_2 = None
        add_9: "f32[s69, 1][1, 1]cpu" = torch.ops.aten.add.Tensor(clamp, 1.0)
        rsub_3: "f32[s69, 1][1, 1]cpu" = torch.ops.aten.rsub.Scalar(clamp, 2.0);  clamp = None
        stack_3: "f32[2, s69, 1][s69, 1, 1]cpu" = torch.ops.aten.stack.default([add_9, rsub_3]);  add_9 = rsub_3 = None
        mul_8: "f32[2, s69, 1][s69, 1, 1]cpu" = torch.ops.aten.mul.Tensor(stack_3, -0.75)
        sub_9: "f32[2, s69, 1][s69, 1, 1]cpu" = torch.ops.aten.sub.Tensor(mul_8, -3.75);  mul_8 = None
        mul_9: "f32[2, s69, 1][s69, 1, 1]cpu" = torch.ops.aten.mul.Tensor(sub_9, stack_3);  sub_9 = None
        add_10: "f32[2, s69, 1][s69, 1, 1]cpu" = torch.ops.aten.add.Tensor(mul_9, -6.0);  mul_9 = None
        mul_10: "f32[2, s69, 1][s69, 1, 1]cpu" = torch.ops.aten.mul.Tensor(add_10, stack_3);  add_10 = stack_3 = None
        sub_10: "f32[2, s69, 1][s69, 1, 1]cpu" = torch.ops.aten.sub.Tensor(mul_10, -3.0);  mul_10 = None
        mul_11: "f32[2, s69, 1][s69, 1, 1]cpu" = torch.ops.aten.mul.Tensor(stack_2, 1.25)
        sub_11: "f32[2, s69, 1][s69, 1, 1]cpu" = torch.ops.aten.sub.Tensor(mul_11, 2.25);  mul_11 = None
        mul_12: "f32[2, s69, 1][s69, 1, 1]cpu" = torch.ops.aten.mul.Tensor(sub_11, stack_2);  sub_11 = None
        mul_13: "f32[2, s69, 1][s69, 1, 1]cpu" = torch.ops.aten.mul.Tensor(mul_12, stack_2);  mul_12 = stack_2 = None
        add_11: "f32[2, s69, 1][s69, 1, 1]cpu" = torch.ops.aten.add.Tensor(mul_13, 1);  mul_13 = None
        unbind_2 = torch.ops.aten.unbind.int(sub_10);  sub_10 = None
        getitem_4: "f32[s69, 1][1, 1]cpu" = unbind_2[0]
        getitem_5: "f32[s69, 1][1, 1]cpu" = unbind_2[1];  unbind_2 = None
        unbind_3 = torch.ops.aten.unbind.int(add_11);  add_11 = None
        getitem_6: "f32[s69, 1][1, 1]cpu" = unbind_3[0]
        getitem_7: "f32[s69, 1][1, 1]cpu" = unbind_3[1];  unbind_3 = None
        clamp_2: "i64[s69, 1][1, 1]cpu" = torch.ops.aten.clamp.default(sub_4, 0, 3)
        clamp_3: "i64[s87][1]cpu" = torch.ops.aten.clamp.default(sub_5, 0, 4)
        _unsafe_index: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg0_1, [None, None, clamp_2, clamp_3]);  clamp_2 = clamp_3 = None
        clamp_4: "i64[s69, 1][1, 1]cpu" = torch.ops.aten.clamp.default(sub_4, 0, 3)
        clamp_5: "i64[s87][1]cpu" = torch.ops.aten.clamp.default(_to_copy_2, 0, 4)
        _unsafe_index_1: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg0_1, [None, None, clamp_4, clamp_5]);  clamp_4 = clamp_5 = None
        clamp_6: "i64[s69, 1][1, 1]cpu" = torch.ops.aten.clamp.default(sub_4, 0, 3)
        clamp_7: "i64[s87][1]cpu" = torch.ops.aten.clamp.default(add_4, 0, 4)
        _unsafe_index_2: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg0_1, [None, None, clamp_6, clamp_7]);  clamp_6 = clamp_7 = None
        clamp_8: "i64[s69, 1][1, 1]cpu" = torch.ops.aten.clamp.default(sub_4, 0, 3);  sub_4 = None
        clamp_9: "i64[s87][1]cpu" = torch.ops.aten.clamp.default(add_5, 0, 4)
        _unsafe_index_3: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg0_1, [None, None, clamp_8, clamp_9]);  clamp_8 = clamp_9 = None
        mul_14: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index, getitem);  _unsafe_index = None
        mul_15: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index_1, getitem_2);  _unsafe_index_1 = None
        add_12: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.add.Tensor(mul_14, mul_15);  mul_14 = mul_15 = None
        mul_16: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index_2, getitem_3);  _unsafe_index_2 = None
        add_13: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.add.Tensor(add_12, mul_16);  add_12 = mul_16 = None
        mul_17: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index_3, getitem_1);  _unsafe_index_3 = None
        add_14: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.add.Tensor(add_13, mul_17);  add_13 = mul_17 = None
        clamp_10: "i64[s69, 1][1, 1]cpu" = torch.ops.aten.clamp.default(_to_copy_3, 0, 3)
        clamp_11: "i64[s87][1]cpu" = torch.ops.aten.clamp.default(sub_5, 0, 4)
        _unsafe_index_4: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg0_1, [None, None, clamp_10, clamp_11]);  clamp_10 = clamp_11 = None
        clamp_12: "i64[s69, 1][1, 1]cpu" = torch.ops.aten.clamp.default(_to_copy_3, 0, 3)
        clamp_13: "i64[s87][1]cpu" = torch.ops.aten.clamp.default(_to_copy_2, 0, 4)
        _unsafe_index_5: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg0_1, [None, None, clamp_12, clamp_13]);  clamp_12 = clamp_13 = None
        clamp_14: "i64[s69, 1][1, 1]cpu" = torch.ops.aten.clamp.default(_to_copy_3, 0, 3)
        clamp_15: "i64[s87][1]cpu" = torch.ops.aten.clamp.default(add_4, 0, 4)
        _unsafe_index_6: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg0_1, [None, None, clamp_14, clamp_15]);  clamp_14 = clamp_15 = None
        clamp_16: "i64[s69, 1][1, 1]cpu" = torch.ops.aten.clamp.default(_to_copy_3, 0, 3);  _to_copy_3 = None
        clamp_17: "i64[s87][1]cpu" = torch.ops.aten.clamp.default(add_5, 0, 4)
        _unsafe_index_7: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg0_1, [None, None, clamp_16, clamp_17]);  clamp_16 = clamp_17 = None
        mul_18: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index_4, getitem);  _unsafe_index_4 = None
        mul_19: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index_5, getitem_2);  _unsafe_index_5 = None
        add_15: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.add.Tensor(mul_18, mul_19);  mul_18 = mul_19 = None
        mul_20: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index_6, getitem_3);  _unsafe_index_6 = None
        add_16: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.add.Tensor(add_15, mul_20);  add_15 = mul_20 = None
        mul_21: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index_7, getitem_1);  _unsafe_index_7 = None
        add_17: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.add.Tensor(add_16, mul_21);  add_16 = mul_21 = None
        clamp_18: "i64[s69, 1][1, 1]cpu" = torch.ops.aten.clamp.default(add_2, 0, 3)
        clamp_19: "i64[s87][1]cpu" = torch.ops.aten.clamp.default(sub_5, 0, 4)
        _unsafe_index_8: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg0_1, [None, None, clamp_18, clamp_19]);  clamp_18 = clamp_19 = None
        clamp_20: "i64[s69, 1][1, 1]cpu" = torch.ops.aten.clamp.default(add_2, 0, 3)
        clamp_21: "i64[s87][1]cpu" = torch.ops.aten.clamp.default(_to_copy_2, 0, 4)
        _unsafe_index_9: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg0_1, [None, None, clamp_20, clamp_21]);  clamp_20 = clamp_21 = None
        clamp_22: "i64[s69, 1][1, 1]cpu" = torch.ops.aten.clamp.default(add_2, 0, 3)
        clamp_23: "i64[s87][1]cpu" = torch.ops.aten.clamp.default(add_4, 0, 4)
        _unsafe_index_10: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg0_1, [None, None, clamp_22, clamp_23]);  clamp_22 = clamp_23 = None
        clamp_24: "i64[s69, 1][1, 1]cpu" = torch.ops.aten.clamp.default(add_2, 0, 3);  add_2 = None
        clamp_25: "i64[s87][1]cpu" = torch.ops.aten.clamp.default(add_5, 0, 4)
        _unsafe_index_11: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg0_1, [None, None, clamp_24, clamp_25]);  clamp_24 = clamp_25 = None
        mul_22: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index_8, getitem);  _unsafe_index_8 = None
        mul_23: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index_9, getitem_2);  _unsafe_index_9 = None
        add_18: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.add.Tensor(mul_22, mul_23);  mul_22 = mul_23 = None
        mul_24: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index_10, getitem_3);  _unsafe_index_10 = None
        add_19: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.add.Tensor(add_18, mul_24);  add_18 = mul_24 = None
        mul_25: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index_11, getitem_1);  _unsafe_index_11 = None
        add_20: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.add.Tensor(add_19, mul_25);  add_19 = mul_25 = None
        clamp_26: "i64[s69, 1][1, 1]cpu" = torch.ops.aten.clamp.default(add_3, 0, 3)
        clamp_27: "i64[s87][1]cpu" = torch.ops.aten.clamp.default(sub_5, 0, 4);  sub_5 = None
        _unsafe_index_12: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg0_1, [None, None, clamp_26, clamp_27]);  clamp_26 = clamp_27 = None
        clamp_28: "i64[s69, 1][1, 1]cpu" = torch.ops.aten.clamp.default(add_3, 0, 3)
        clamp_29: "i64[s87][1]cpu" = torch.ops.aten.clamp.default(_to_copy_2, 0, 4);  _to_copy_2 = None
        _unsafe_index_13: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg0_1, [None, None, clamp_28, clamp_29]);  clamp_28 = clamp_29 = None
        clamp_30: "i64[s69, 1][1, 1]cpu" = torch.ops.aten.clamp.default(add_3, 0, 3)
        clamp_31: "i64[s87][1]cpu" = torch.ops.aten.clamp.default(add_4, 0, 4);  add_4 = None
        _unsafe_index_14: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg0_1, [None, None, clamp_30, clamp_31]);  clamp_30 = clamp_31 = None
        clamp_32: "i64[s69, 1][1, 1]cpu" = torch.ops.aten.clamp.default(add_3, 0, 3);  add_3 = None
        clamp_33: "i64[s87][1]cpu" = torch.ops.aten.clamp.default(add_5, 0, 4);  add_5 = None
        _unsafe_index_15: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg0_1, [None, None, clamp_32, clamp_33]);  arg0_1 = clamp_32 = clamp_33 = None
        mul_26: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index_12, getitem);  _unsafe_index_12 = getitem = None
        mul_27: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index_13, getitem_2);  _unsafe_index_13 = getitem_2 = None
        add_21: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.add.Tensor(mul_26, mul_27);  mul_26 = mul_27 = None
        mul_28: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index_14, getitem_3);  _unsafe_index_14 = getitem_3 = None
        add_22: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.add.Tensor(add_21, mul_28);  add_21 = mul_28 = None
        mul_29: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index_15, getitem_1);  _unsafe_index_15 = getitem_1 = None
        add_23: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.add.Tensor(add_22, mul_29);  add_22 = mul_29 = None
        mul_30: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.mul.Tensor(add_14, getitem_4);  add_14 = getitem_4 = None
        mul_31: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.mul.Tensor(add_17, getitem_6);  add_17 = getitem_6 = None
        add_24: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.add.Tensor(mul_30, mul_31);  mul_30 = mul_31 = None
        mul_32: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.mul.Tensor(add_20, getitem_7);  add_20 = getitem_7 = None
        add_25: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.add.Tensor(add_24, mul_32);  add_24 = mul_32 = None
        mul_33: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.mul.Tensor(add_23, getitem_5);  add_23 = getitem_5 = None
        add_26: "f32[1, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.add.Tensor(add_25, mul_33);  add_25 = mul_33 = None
        add_27: "f32[s33, 3, s69, s87][3*s69*s87, s69*s87, s87, 1]cpu" = torch.ops.aten.add.Tensor(arg4_1, add_26);  add_26 = None
        mul_40: "Sym(s69*s87)" = arg2_1 * arg3_1
        view: "f32[s33, 3, s69*s87][3*s69*s87, s69*s87, 1]cpu" = torch.ops.aten.view.default(add_27, [arg1_1, 3, mul_40]);  add_27 = arg1_1 = mul_40 = None
        mean: "f32[s33, 3][3, 1]cpu" = torch.ops.aten.mean.dim(view, [-1]);  view = None
        sym_float: "Sym(ToFloat(s69))" = torch.sym_float(arg2_1)
        mul_50: "Sym(2.0*ToFloat(s69))" = sym_float * 2.0;  sym_float = None
        trunc: "Sym(TruncToInt(2.0*ToFloat(s69)))" = math_trunc(mul_50);  mul_50 = None
        sym_float_1: "Sym(ToFloat(s87))" = torch.sym_float(arg3_1)
        mul_51: "Sym(2.0*ToFloat(s87))" = sym_float_1 * 2.0;  sym_float_1 = None
        trunc_1: "Sym(TruncToInt(2.0*ToFloat(s87)))" = math_trunc(mul_51);  mul_51 = None
        arange_2: "i64[TruncToInt(2.0*ToFloat(s69))][1]cpu" = torch.ops.aten.arange.default(trunc, device = device(type='cpu'), pin_memory = False);  trunc = None
        _to_copy_4: "f32[TruncToInt(2.0*ToFloat(s69))][1]cpu" = torch.ops.aten._to_copy.default(arange_2, dtype = torch.float32);  arange_2 = None
        arange_3: "i64[TruncToInt(2.0*ToFloat(s87))][1]cpu" = torch.ops.aten.arange.default(trunc_1, device = device(type='cpu'), pin_memory = False);  trunc_1 = None
        _to_copy_5: "f32[TruncToInt(2.0*ToFloat(s87))][1]cpu" = torch.ops.aten._to_copy.default(arange_3, dtype = torch.float32);  arange_3 = None
        add_28: "f32[TruncToInt(2.0*ToFloat(s87))][1]cpu" = torch.ops.aten.add.Tensor(_to_copy_5, 0.5);  _to_copy_5 = None
        mul_52: "f32[TruncToInt(2.0*ToFloat(s87))][1]cpu" = torch.ops.aten.mul.Tensor(add_28, 0.5);  add_28 = None
        sub_12: "f32[TruncToInt(2.0*ToFloat(s87))][1]cpu" = torch.ops.aten.sub.Tensor(mul_52, 0.5);  mul_52 = None
        add_29: "f32[TruncToInt(2.0*ToFloat(s69))][1]cpu" = torch.ops.aten.add.Tensor(_to_copy_4, 0.5);  _to_copy_4 = None
        mul_53: "f32[TruncToInt(2.0*ToFloat(s69))][1]cpu" = torch.ops.aten.mul.Tensor(add_29, 0.5);  add_29 = None
        sub_13: "f32[TruncToInt(2.0*ToFloat(s69))][1]cpu" = torch.ops.aten.sub.Tensor(mul_53, 0.5);  mul_53 = None
        unsqueeze_1: "f32[TruncToInt(2.0*ToFloat(s69)), 1][1, 1]cpu" = torch.ops.aten.unsqueeze.default(sub_13, -1);  sub_13 = None
        floor_2: "f32[TruncToInt(2.0*ToFloat(s87))][1]cpu" = torch.ops.aten.floor.default(sub_12)
        floor_3: "f32[TruncToInt(2.0*ToFloat(s69)), 1][1, 1]cpu" = torch.ops.aten.floor.default(unsqueeze_1)
        sub_14: "f32[TruncToInt(2.0*ToFloat(s69)), 1][1, 1]cpu" = torch.ops.aten.sub.Tensor(unsqueeze_1, floor_3);  unsqueeze_1 = None
        clamp_34: "f32[TruncToInt(2.0*ToFloat(s69)), 1][1, 1]cpu" = torch.ops.aten.clamp.default(sub_14, 0.0, 1.0);  sub_14 = None
        sub_15: "f32[TruncToInt(2.0*ToFloat(s87))][1]cpu" = torch.ops.aten.sub.Tensor(sub_12, floor_2);  sub_12 = None
        clamp_35: "f32[TruncToInt(2.0*ToFloat(s87))][1]cpu" = torch.ops.aten.clamp.default(sub_15, 0.0, 1.0);  sub_15 = None
        _to_copy_6: "i64[TruncToInt(2.0*ToFloat(s87))][1]cpu" = torch.ops.aten._to_copy.default(floor_2, dtype = torch.int64);  floor_2 = None
        _to_copy_7: "i64[TruncToInt(2.0*ToFloat(s69)), 1][1, 1]cpu" = torch.ops.aten._to_copy.default(floor_3, dtype = torch.int64);  floor_3 = None
        sub_16: "i64[TruncToInt(2.0*ToFloat(s69)), 1][1, 1]cpu" = torch.ops.aten.sub.Tensor(_to_copy_7, 1)
        add_30: "i64[TruncToInt(2.0*ToFloat(s69)), 1][1, 1]cpu" = torch.ops.aten.add.Tensor(_to_copy_7, 1)
        add_31: "i64[TruncToInt(2.0*ToFloat(s69)), 1][1, 1]cpu" = torch.ops.aten.add.Tensor(_to_copy_7, 2)
        sub_17: "i64[TruncToInt(2.0*ToFloat(s87))][1]cpu" = torch.ops.aten.sub.Tensor(_to_copy_6, 1)
        add_32: "i64[TruncToInt(2.0*ToFloat(s87))][1]cpu" = torch.ops.aten.add.Tensor(_to_copy_6, 1)
        add_33: "i64[TruncToInt(2.0*ToFloat(s87))][1]cpu" = torch.ops.aten.add.Tensor(_to_copy_6, 2)
        rsub_4: "f32[TruncToInt(2.0*ToFloat(s87))][1]cpu" = torch.ops.aten.rsub.Scalar(clamp_35, 1.0)
        stack_4: "f32[2, TruncToInt(2.0*ToFloat(s87))][TruncToInt(2.0*ToFloat(s87)), 1]cpu" = torch.ops.aten.stack.default([clamp_35, rsub_4]);  rsub_4 = None
        add_34: "f32[TruncToInt(2.0*ToFloat(s87))][1]cpu" = torch.ops.aten.add.Tensor(clamp_35, 1.0)
        rsub_5: "f32[TruncToInt(2.0*ToFloat(s87))][1]cpu" = torch.ops.aten.rsub.Scalar(clamp_35, 2.0);  clamp_35 = None
        stack_5: "f32[2, TruncToInt(2.0*ToFloat(s87))][TruncToInt(2.0*ToFloat(s87)), 1]cpu" = torch.ops.aten.stack.default([add_34, rsub_5]);  add_34 = rsub_5 = None
        mul_54: "f32[2, TruncToInt(2.0*ToFloat(s87))][Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.mul.Tensor(stack_5, -0.75)
        sub_18: "f32[2, TruncToInt(2.0*ToFloat(s87))][Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.sub.Tensor(mul_54, -3.75);  mul_54 = None
        mul_55: "f32[2, TruncToInt(2.0*ToFloat(s87))][Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.mul.Tensor(sub_18, stack_5);  sub_18 = None
        add_35: "f32[2, TruncToInt(2.0*ToFloat(s87))][Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.add.Tensor(mul_55, -6.0);  mul_55 = None
        mul_56: "f32[2, TruncToInt(2.0*ToFloat(s87))][Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.mul.Tensor(add_35, stack_5);  add_35 = stack_5 = None
        sub_19: "f32[2, TruncToInt(2.0*ToFloat(s87))][Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.sub.Tensor(mul_56, -3.0);  mul_56 = None
        mul_57: "f32[2, TruncToInt(2.0*ToFloat(s87))][Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.mul.Tensor(stack_4, 1.25)
        sub_20: "f32[2, TruncToInt(2.0*ToFloat(s87))][Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.sub.Tensor(mul_57, 2.25);  mul_57 = None
        mul_58: "f32[2, TruncToInt(2.0*ToFloat(s87))][Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.mul.Tensor(sub_20, stack_4);  sub_20 = None
        mul_59: "f32[2, TruncToInt(2.0*ToFloat(s87))][Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.mul.Tensor(mul_58, stack_4);  mul_58 = stack_4 = None
        add_36: "f32[2, TruncToInt(2.0*ToFloat(s87))][Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.add.Tensor(mul_59, 1);  mul_59 = None
        unbind_4 = torch.ops.aten.unbind.int(sub_19);  sub_19 = None
        getitem_8: "f32[TruncToInt(2.0*ToFloat(s87))][1]cpu" = unbind_4[0]
        getitem_9: "f32[TruncToInt(2.0*ToFloat(s87))][1]cpu" = unbind_4[1];  unbind_4 = None
        unbind_5 = torch.ops.aten.unbind.int(add_36);  add_36 = None
        getitem_10: "f32[TruncToInt(2.0*ToFloat(s87))][1]cpu" = unbind_5[0]
        getitem_11: "f32[TruncToInt(2.0*ToFloat(s87))][1]cpu" = unbind_5[1];  unbind_5 = None
        rsub_6: "f32[TruncToInt(2.0*ToFloat(s69)), 1][1, 1]cpu" = torch.ops.aten.rsub.Scalar(clamp_34, 1.0)
        stack_6: "f32[2, TruncToInt(2.0*ToFloat(s69)), 1][TruncToInt(2.0*ToFloat(s69)), 1, 1]cpu" = torch.ops.aten.stack.default([clamp_34, rsub_6]);  rsub_6 = None
        add_37: "f32[TruncToInt(2.0*ToFloat(s69)), 1][1, 1]cpu" = torch.ops.aten.add.Tensor(clamp_34, 1.0)
        rsub_7: "f32[TruncToInt(2.0*ToFloat(s69)), 1][1, 1]cpu" = torch.ops.aten.rsub.Scalar(clamp_34, 2.0);  clamp_34 = None
        stack_7: "f32[2, TruncToInt(2.0*ToFloat(s69)), 1][TruncToInt(2.0*ToFloat(s69)), 1, 1]cpu" = torch.ops.aten.stack.default([add_37, rsub_7]);  add_37 = rsub_7 = None
        mul_60: "f32[2, TruncToInt(2.0*ToFloat(s69)), 1][Max(1, TruncToInt(2.0*ToFloat(s69))), 1, 1]cpu" = torch.ops.aten.mul.Tensor(stack_7, -0.75)
        sub_21: "f32[2, TruncToInt(2.0*ToFloat(s69)), 1][Max(1, TruncToInt(2.0*ToFloat(s69))), 1, 1]cpu" = torch.ops.aten.sub.Tensor(mul_60, -3.75);  mul_60 = None
        mul_61: "f32[2, TruncToInt(2.0*ToFloat(s69)), 1][Max(1, TruncToInt(2.0*ToFloat(s69))), 1, 1]cpu" = torch.ops.aten.mul.Tensor(sub_21, stack_7);  sub_21 = None
        add_38: "f32[2, TruncToInt(2.0*ToFloat(s69)), 1][Max(1, TruncToInt(2.0*ToFloat(s69))), 1, 1]cpu" = torch.ops.aten.add.Tensor(mul_61, -6.0);  mul_61 = None
        mul_62: "f32[2, TruncToInt(2.0*ToFloat(s69)), 1][Max(1, TruncToInt(2.0*ToFloat(s69))), 1, 1]cpu" = torch.ops.aten.mul.Tensor(add_38, stack_7);  add_38 = stack_7 = None
        sub_22: "f32[2, TruncToInt(2.0*ToFloat(s69)), 1][Max(1, TruncToInt(2.0*ToFloat(s69))), 1, 1]cpu" = torch.ops.aten.sub.Tensor(mul_62, -3.0);  mul_62 = None
        mul_63: "f32[2, TruncToInt(2.0*ToFloat(s69)), 1][Max(1, TruncToInt(2.0*ToFloat(s69))), 1, 1]cpu" = torch.ops.aten.mul.Tensor(stack_6, 1.25)
        sub_23: "f32[2, TruncToInt(2.0*ToFloat(s69)), 1][Max(1, TruncToInt(2.0*ToFloat(s69))), 1, 1]cpu" = torch.ops.aten.sub.Tensor(mul_63, 2.25);  mul_63 = None
        mul_64: "f32[2, TruncToInt(2.0*ToFloat(s69)), 1][Max(1, TruncToInt(2.0*ToFloat(s69))), 1, 1]cpu" = torch.ops.aten.mul.Tensor(sub_23, stack_6);  sub_23 = None
        mul_65: "f32[2, TruncToInt(2.0*ToFloat(s69)), 1][Max(1, TruncToInt(2.0*ToFloat(s69))), 1, 1]cpu" = torch.ops.aten.mul.Tensor(mul_64, stack_6);  mul_64 = stack_6 = None
        add_39: "f32[2, TruncToInt(2.0*ToFloat(s69)), 1][Max(1, TruncToInt(2.0*ToFloat(s69))), 1, 1]cpu" = torch.ops.aten.add.Tensor(mul_65, 1);  mul_65 = None
        unbind_6 = torch.ops.aten.unbind.int(sub_22);  sub_22 = None
        getitem_12: "f32[TruncToInt(2.0*ToFloat(s69)), 1][1, 1]cpu" = unbind_6[0]
        getitem_13: "f32[TruncToInt(2.0*ToFloat(s69)), 1][1, 1]cpu" = unbind_6[1];  unbind_6 = None
        unbind_7 = torch.ops.aten.unbind.int(add_39);  add_39 = None
        getitem_14: "f32[TruncToInt(2.0*ToFloat(s69)), 1][1, 1]cpu" = unbind_7[0]
        getitem_15: "f32[TruncToInt(2.0*ToFloat(s69)), 1][1, 1]cpu" = unbind_7[1];  unbind_7 = None
        sub_24: "Sym(s69 - 1)" = arg2_1 - 1;  arg2_1 = None
        clamp_36: "i64[TruncToInt(2.0*ToFloat(s69)), 1][1, 1]cpu" = torch.ops.aten.clamp.default(sub_16, 0, sub_24)
        sub_25: "Sym(s87 - 1)" = arg3_1 - 1;  arg3_1 = None
        clamp_37: "i64[TruncToInt(2.0*ToFloat(s87))][1]cpu" = torch.ops.aten.clamp.default(sub_17, 0, sub_25)
        _unsafe_index_16: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg4_1, [None, None, clamp_36, clamp_37]);  clamp_36 = clamp_37 = None
        clamp_38: "i64[TruncToInt(2.0*ToFloat(s69)), 1][1, 1]cpu" = torch.ops.aten.clamp.default(sub_16, 0, sub_24)
        clamp_39: "i64[TruncToInt(2.0*ToFloat(s87))][1]cpu" = torch.ops.aten.clamp.default(_to_copy_6, 0, sub_25)
        _unsafe_index_17: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg4_1, [None, None, clamp_38, clamp_39]);  clamp_38 = clamp_39 = None
        clamp_40: "i64[TruncToInt(2.0*ToFloat(s69)), 1][1, 1]cpu" = torch.ops.aten.clamp.default(sub_16, 0, sub_24)
        clamp_41: "i64[TruncToInt(2.0*ToFloat(s87))][1]cpu" = torch.ops.aten.clamp.default(add_32, 0, sub_25)
        _unsafe_index_18: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg4_1, [None, None, clamp_40, clamp_41]);  clamp_40 = clamp_41 = None
        clamp_42: "i64[TruncToInt(2.0*ToFloat(s69)), 1][1, 1]cpu" = torch.ops.aten.clamp.default(sub_16, 0, sub_24);  sub_16 = None
        clamp_43: "i64[TruncToInt(2.0*ToFloat(s87))][1]cpu" = torch.ops.aten.clamp.default(add_33, 0, sub_25)
        _unsafe_index_19: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg4_1, [None, None, clamp_42, clamp_43]);  clamp_42 = clamp_43 = None
        mul_66: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index_16, getitem_8);  _unsafe_index_16 = None
        mul_67: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index_17, getitem_10);  _unsafe_index_17 = None
        add_40: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.add.Tensor(mul_66, mul_67);  mul_66 = mul_67 = None
        mul_68: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index_18, getitem_11);  _unsafe_index_18 = None
        add_41: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.add.Tensor(add_40, mul_68);  add_40 = mul_68 = None
        mul_69: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index_19, getitem_9);  _unsafe_index_19 = None
        add_42: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.add.Tensor(add_41, mul_69);  add_41 = mul_69 = None
        clamp_44: "i64[TruncToInt(2.0*ToFloat(s69)), 1][1, 1]cpu" = torch.ops.aten.clamp.default(_to_copy_7, 0, sub_24)
        clamp_45: "i64[TruncToInt(2.0*ToFloat(s87))][1]cpu" = torch.ops.aten.clamp.default(sub_17, 0, sub_25)
        _unsafe_index_20: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg4_1, [None, None, clamp_44, clamp_45]);  clamp_44 = clamp_45 = None
        clamp_46: "i64[TruncToInt(2.0*ToFloat(s69)), 1][1, 1]cpu" = torch.ops.aten.clamp.default(_to_copy_7, 0, sub_24)
        clamp_47: "i64[TruncToInt(2.0*ToFloat(s87))][1]cpu" = torch.ops.aten.clamp.default(_to_copy_6, 0, sub_25)
        _unsafe_index_21: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg4_1, [None, None, clamp_46, clamp_47]);  clamp_46 = clamp_47 = None
        clamp_48: "i64[TruncToInt(2.0*ToFloat(s69)), 1][1, 1]cpu" = torch.ops.aten.clamp.default(_to_copy_7, 0, sub_24)
        clamp_49: "i64[TruncToInt(2.0*ToFloat(s87))][1]cpu" = torch.ops.aten.clamp.default(add_32, 0, sub_25)
        _unsafe_index_22: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg4_1, [None, None, clamp_48, clamp_49]);  clamp_48 = clamp_49 = None
        clamp_50: "i64[TruncToInt(2.0*ToFloat(s69)), 1][1, 1]cpu" = torch.ops.aten.clamp.default(_to_copy_7, 0, sub_24);  _to_copy_7 = None
        clamp_51: "i64[TruncToInt(2.0*ToFloat(s87))][1]cpu" = torch.ops.aten.clamp.default(add_33, 0, sub_25)
        _unsafe_index_23: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg4_1, [None, None, clamp_50, clamp_51]);  clamp_50 = clamp_51 = None
        mul_70: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index_20, getitem_8);  _unsafe_index_20 = None
        mul_71: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index_21, getitem_10);  _unsafe_index_21 = None
        add_43: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.add.Tensor(mul_70, mul_71);  mul_70 = mul_71 = None
        mul_72: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index_22, getitem_11);  _unsafe_index_22 = None
        add_44: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.add.Tensor(add_43, mul_72);  add_43 = mul_72 = None
        mul_73: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index_23, getitem_9);  _unsafe_index_23 = None
        add_45: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.add.Tensor(add_44, mul_73);  add_44 = mul_73 = None
        clamp_52: "i64[TruncToInt(2.0*ToFloat(s69)), 1][1, 1]cpu" = torch.ops.aten.clamp.default(add_30, 0, sub_24)
        clamp_53: "i64[TruncToInt(2.0*ToFloat(s87))][1]cpu" = torch.ops.aten.clamp.default(sub_17, 0, sub_25)
        _unsafe_index_24: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg4_1, [None, None, clamp_52, clamp_53]);  clamp_52 = clamp_53 = None
        clamp_54: "i64[TruncToInt(2.0*ToFloat(s69)), 1][1, 1]cpu" = torch.ops.aten.clamp.default(add_30, 0, sub_24)
        clamp_55: "i64[TruncToInt(2.0*ToFloat(s87))][1]cpu" = torch.ops.aten.clamp.default(_to_copy_6, 0, sub_25)
        _unsafe_index_25: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg4_1, [None, None, clamp_54, clamp_55]);  clamp_54 = clamp_55 = None
        clamp_56: "i64[TruncToInt(2.0*ToFloat(s69)), 1][1, 1]cpu" = torch.ops.aten.clamp.default(add_30, 0, sub_24)
        clamp_57: "i64[TruncToInt(2.0*ToFloat(s87))][1]cpu" = torch.ops.aten.clamp.default(add_32, 0, sub_25)
        _unsafe_index_26: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg4_1, [None, None, clamp_56, clamp_57]);  clamp_56 = clamp_57 = None
        clamp_58: "i64[TruncToInt(2.0*ToFloat(s69)), 1][1, 1]cpu" = torch.ops.aten.clamp.default(add_30, 0, sub_24);  add_30 = None
        clamp_59: "i64[TruncToInt(2.0*ToFloat(s87))][1]cpu" = torch.ops.aten.clamp.default(add_33, 0, sub_25)
        _unsafe_index_27: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg4_1, [None, None, clamp_58, clamp_59]);  clamp_58 = clamp_59 = None
        mul_74: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index_24, getitem_8);  _unsafe_index_24 = None
        mul_75: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index_25, getitem_10);  _unsafe_index_25 = None
        add_46: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.add.Tensor(mul_74, mul_75);  mul_74 = mul_75 = None
        mul_76: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index_26, getitem_11);  _unsafe_index_26 = None
        add_47: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.add.Tensor(add_46, mul_76);  add_46 = mul_76 = None
        mul_77: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index_27, getitem_9);  _unsafe_index_27 = None
        add_48: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.add.Tensor(add_47, mul_77);  add_47 = mul_77 = None
        clamp_60: "i64[TruncToInt(2.0*ToFloat(s69)), 1][1, 1]cpu" = torch.ops.aten.clamp.default(add_31, 0, sub_24)
        clamp_61: "i64[TruncToInt(2.0*ToFloat(s87))][1]cpu" = torch.ops.aten.clamp.default(sub_17, 0, sub_25);  sub_17 = None
        _unsafe_index_28: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg4_1, [None, None, clamp_60, clamp_61]);  clamp_60 = clamp_61 = None
        clamp_62: "i64[TruncToInt(2.0*ToFloat(s69)), 1][1, 1]cpu" = torch.ops.aten.clamp.default(add_31, 0, sub_24)
        clamp_63: "i64[TruncToInt(2.0*ToFloat(s87))][1]cpu" = torch.ops.aten.clamp.default(_to_copy_6, 0, sub_25);  _to_copy_6 = None
        _unsafe_index_29: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg4_1, [None, None, clamp_62, clamp_63]);  clamp_62 = clamp_63 = None
        clamp_64: "i64[TruncToInt(2.0*ToFloat(s69)), 1][1, 1]cpu" = torch.ops.aten.clamp.default(add_31, 0, sub_24)
        clamp_65: "i64[TruncToInt(2.0*ToFloat(s87))][1]cpu" = torch.ops.aten.clamp.default(add_32, 0, sub_25);  add_32 = None
        _unsafe_index_30: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg4_1, [None, None, clamp_64, clamp_65]);  clamp_64 = clamp_65 = None
        clamp_66: "i64[TruncToInt(2.0*ToFloat(s69)), 1][1, 1]cpu" = torch.ops.aten.clamp.default(add_31, 0, sub_24);  add_31 = sub_24 = None
        clamp_67: "i64[TruncToInt(2.0*ToFloat(s87))][1]cpu" = torch.ops.aten.clamp.default(add_33, 0, sub_25);  add_33 = sub_25 = None
        _unsafe_index_31: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten._unsafe_index.Tensor(arg4_1, [None, None, clamp_66, clamp_67]);  arg4_1 = clamp_66 = clamp_67 = None
        mul_78: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index_28, getitem_8);  _unsafe_index_28 = getitem_8 = None
        mul_79: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index_29, getitem_10);  _unsafe_index_29 = getitem_10 = None
        add_49: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.add.Tensor(mul_78, mul_79);  mul_78 = mul_79 = None
        mul_80: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index_30, getitem_11);  _unsafe_index_30 = getitem_11 = None
        add_50: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.add.Tensor(add_49, mul_80);  add_49 = mul_80 = None
        mul_81: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.mul.Tensor(_unsafe_index_31, getitem_9);  _unsafe_index_31 = getitem_9 = None
        add_51: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.add.Tensor(add_50, mul_81);  add_50 = mul_81 = None
        mul_82: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.mul.Tensor(add_42, getitem_12);  add_42 = getitem_12 = None
        mul_83: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.mul.Tensor(add_45, getitem_14);  add_45 = getitem_14 = None
        add_52: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.add.Tensor(mul_82, mul_83);  mul_82 = mul_83 = None
        mul_84: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.mul.Tensor(add_48, getitem_15);  add_48 = getitem_15 = None
        add_53: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.add.Tensor(add_52, mul_84);  add_52 = mul_84 = None
        mul_85: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.mul.Tensor(add_51, getitem_13);  add_51 = getitem_13 = None
        add_54: "f32[s33, 3, TruncToInt(2.0*ToFloat(s69)), TruncToInt(2.0*ToFloat(s87))][3*Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s69)))*Max(1, TruncToInt(2.0*ToFloat(s87))), Max(1, TruncToInt(2.0*ToFloat(s87))), 1]cpu" = torch.ops.aten.add.Tensor(add_53, mul_85);  add_53 = mul_85 = None
        return (mean, add_54)
