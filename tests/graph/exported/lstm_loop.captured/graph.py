class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "Sym(s77)", arg1_1: "f32[s77, 7, 6][42, 6, 1]cpu", arg2_1: "f32[32, 6][6, 1]cpu", arg3_1: "f32[32, 8][8, 1]cpu", arg4_1: "f32[32][1]cpu", arg5_1: "f32[32][1]cpu", arg6_1: "f32[3, 8][8, 1]cpu", arg7_1: "f32[3][1]cpu"):
        new_zeros: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.new_zeros.default(arg1_1, [arg0_1, 8], pin_memory = False);  arg0_1 = None
        slice_1: "f32[s77, 7, 6][42, 6, 1]cpu" = torch.ops.aten.slice.Tensor(arg1_1, 0, 0, 9223372036854775807)
        select: "f32[s77, 6][42, 1]cpu" = torch.ops.aten.select.int(slice_1, 1, 0);  slice_1 = None
        t: "f32[8, 32][1, 8]cpu" = torch.ops.aten.t.default(arg3_1)
        addmm: "f32[s77, 32][32, 1]cpu" = torch.ops.aten.addmm.default(arg5_1, new_zeros, t);  t = None
        t_1: "f32[6, 32][1, 6]cpu" = torch.ops.aten.t.default(arg2_1)
        addmm_1: "f32[s77, 32][32, 1]cpu" = torch.ops.aten.addmm.default(arg4_1, select, t_1);  select = t_1 = None
        add_6: "f32[s77, 32][32, 1]cpu" = torch.ops.aten.add.Tensor(addmm, addmm_1);  addmm = addmm_1 = None
        unsafe_split = torch.ops.aten.unsafe_split.Tensor(add_6, 8, 1);  add_6 = None
        getitem: "f32[s77, 8][32, 1]cpu" = unsafe_split[0]
        getitem_1: "f32[s77, 8][32, 1]cpu" = unsafe_split[1]
        getitem_2: "f32[s77, 8][32, 1]cpu" = unsafe_split[2]
        getitem_3: "f32[s77, 8][32, 1]cpu" = unsafe_split[3];  unsafe_split = None
        sigmoid: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.sigmoid.default(getitem);  getitem = None
        sigmoid_1: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.sigmoid.default(getitem_1);  getitem_1 = None
        tanh: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.tanh.default(getitem_2);  getitem_2 = None
        sigmoid_2: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.sigmoid.default(getitem_3);  getitem_3 = None
        mul_73: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(sigmoid_1, new_zeros);  sigmoid_1 = new_zeros = None
        mul_74: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(sigmoid, tanh);  sigmoid = tanh = None
        add_38: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.add.Tensor(mul_73, mul_74);  mul_73 = mul_74 = None
        tanh_1: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.tanh.default(add_38)
        mul_79: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(sigmoid_2, tanh_1);  sigmoid_2 = tanh_1 = None
        t_2: "f32[8, 3][1, 8]cpu" = torch.ops.aten.t.default(arg6_1)
        addmm_2: "f32[s77, 3][3, 1]cpu" = torch.ops.aten.addmm.default(arg7_1, mul_79, t_2);  t_2 = None
        slice_2: "f32[s77, 7, 6][42, 6, 1]cpu" = torch.ops.aten.slice.Tensor(arg1_1, 0, 0, 9223372036854775807)
        select_1: "f32[s77, 6][42, 1]cpu" = torch.ops.aten.select.int(slice_2, 1, 1);  slice_2 = None
        t_3: "f32[8, 32][1, 8]cpu" = torch.ops.aten.t.default(arg3_1)
        addmm_3: "f32[s77, 32][32, 1]cpu" = torch.ops.aten.addmm.default(arg5_1, mul_79, t_3);  mul_79 = t_3 = None
        t_4: "f32[6, 32][1, 6]cpu" = torch.ops.aten.t.default(arg2_1)
        addmm_4: "f32[s77, 32][32, 1]cpu" = torch.ops.aten.addmm.default(arg4_1, select_1, t_4);  select_1 = t_4 = None
        add_45: "f32[s77, 32][32, 1]cpu" = torch.ops.aten.add.Tensor(addmm_3, addmm_4);  addmm_3 = addmm_4 = None
        unsafe_split_1 = torch.ops.aten.unsafe_split.Tensor(add_45, 8, 1);  add_45 = None
        getitem_4: "f32[s77, 8][32, 1]cpu" = unsafe_split_1[0]
        getitem_5: "f32[s77, 8][32, 1]cpu" = unsafe_split_1[1]
        getitem_6: "f32[s77, 8][32, 1]cpu" = unsafe_split_1[2]
        getitem_7: "f32[s77, 8][32, 1]cpu" = unsafe_split_1[3];  unsafe_split_1 = None
        sigmoid_3: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.sigmoid.default(getitem_4);  getitem_4 = None
        sigmoid_4: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.sigmoid.default(getitem_5);  getitem_5 = None
        tanh_2: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.tanh.default(getitem_6);  getitem_6 = None
        sigmoid_5: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.sigmoid.default(getitem_7);  getitem_7 = None
        mul_153: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(sigmoid_4, add_38);  sigmoid_4 = add_38 = None
        mul_154: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(sigmoid_3, tanh_2);  sigmoid_3 = tanh_2 = None
        add_77: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.add.Tensor(mul_153, mul_154);  mul_153 = mul_154 = None
        tanh_3: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.tanh.default(add_77)
        mul_159: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(sigmoid_5, tanh_3);  sigmoid_5 = tanh_3 = None
        t_5: "f32[8, 3][1, 8]cpu" = torch.ops.aten.t.default(arg6_1)
        addmm_5: "f32[s77, 3][3, 1]cpu" = torch.ops.aten.addmm.default(arg7_1, mul_159, t_5);  t_5 = None
        slice_3: "f32[s77, 7, 6][42, 6, 1]cpu" = torch.ops.aten.slice.Tensor(arg1_1, 0, 0, 9223372036854775807)
        select_2: "f32[s77, 6][42, 1]cpu" = torch.ops.aten.select.int(slice_3, 1, 2);  slice_3 = None
        t_6: "f32[8, 32][1, 8]cpu" = torch.ops.aten.t.default(arg3_1)
        addmm_6: "f32[s77, 32][32, 1]cpu" = torch.ops.aten.addmm.default(arg5_1, mul_159, t_6);  mul_159 = t_6 = None
        t_7: "f32[6, 32][1, 6]cpu" = torch.ops.aten.t.default(arg2_1)
        addmm_7: "f32[s77, 32][32, 1]cpu" = torch.ops.aten.addmm.default(arg4_1, select_2, t_7);  select_2 = t_7 = None
        add_84: "f32[s77, 32][32, 1]cpu" = torch.ops.aten.add.Tensor(addmm_6, addmm_7);  addmm_6 = addmm_7 = None
        unsafe_split_2 = torch.ops.aten.unsafe_split.Tensor(add_84, 8, 1);  add_84 = None
        getitem_8: "f32[s77, 8][32, 1]cpu" = unsafe_split_2[0]
        getitem_9: "f32[s77, 8][32, 1]cpu" = unsafe_split_2[1]
        getitem_10: "f32[s77, 8][32, 1]cpu" = unsafe_split_2[2]
        getitem_11: "f32[s77, 8][32, 1]cpu" = unsafe_split_2[3];  unsafe_split_2 = None
        sigmoid_6: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.sigmoid.default(getitem_8);  getitem_8 = None
        sigmoid_7: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.sigmoid.default(getitem_9);  getitem_9 = None
        tanh_4: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.tanh.default(getitem_10);  getitem_10 = None
        sigmoid_8: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.sigmoid.default(getitem_11);  getitem_11 = None
        mul_233: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(sigmoid_7, add_77);  sigmoid_7 = add_77 = None
        mul_234: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(sigmoid_6, tanh_4);  sigmoid_6 = tanh_4 = None
        add_116: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.add.Tensor(mul_233, mul_234);  mul_233 = mul_234 = None
        tanh_5: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.tanh.default(add_116)
        mul_239: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(sigmoid_8, tanh_5);  sigmoid_8 = tanh_5 = None
        t_8: "f32[8, 3][1, 8]cpu" = torch.ops.aten.t.default(arg6_1)
        addmm_8: "f32[s77, 3][3, 1]cpu" = torch.ops.aten.addmm.default(arg7_1, mul_239, t_8);  t_8 = None
        slice_4: "f32[s77, 7, 6][42, 6, 1]cpu" = torch.ops.aten.slice.Tensor(arg1_1, 0, 0, 9223372036854775807)
        select_3: "f32[s77, 6][42, 1]cpu" = torch.ops.aten.select.int(slice_4, 1, 3);  slice_4 = None
        t_9: "f32[8, 32][1, 8]cpu" = torch.ops.aten.t.default(arg3_1)
        addmm_9: "f32[s77, 32][32, 1]cpu" = torch.ops.aten.addmm.default(arg5_1, mul_239, t_9);  mul_239 = t_9 = None
        t_10: "f32[6, 32][1, 6]cpu" = torch.ops.aten.t.default(arg2_1)
        addmm_10: "f32[s77, 32][32, 1]cpu" = torch.ops.aten.addmm.default(arg4_1, select_3, t_10);  select_3 = t_10 = None
        add_123: "f32[s77, 32][32, 1]cpu" = torch.ops.aten.add.Tensor(addmm_9, addmm_10);  addmm_9 = addmm_10 = None
        unsafe_split_3 = torch.ops.aten.unsafe_split.Tensor(add_123, 8, 1);  add_123 = None
        getitem_12: "f32[s77, 8][32, 1]cpu" = unsafe_split_3[0]
        getitem_13: "f32[s77, 8][32, 1]cpu" = unsafe_split_3[1]
        getitem_14: "f32[s77, 8][32, 1]cpu" = unsafe_split_3[2]
        getitem_15: "f32[s77, 8][32, 1]cpu" = unsafe_split_3[3];  unsafe_split_3 = None
        sigmoid_9: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.sigmoid.default(getitem_12);  getitem_12 = None
        sigmoid_10: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.sigmoid.default(getitem_13);  getitem_13 = None
        tanh_6: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.tanh.default(getitem_14);  getitem_14 = None
        sigmoid_11: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.sigmoid.default(getitem_15);  getitem_15 = None
        mul_313: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(sigmoid_10, add_116);  sigmoid_10 = add_116 = None
        mul_314: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(sigmoid_9, tanh_6);  sigmoid_9 = tanh_6 = None
        add_155: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.add.Tensor(mul_313, mul_314);  mul_313 = mul_314 = None
        tanh_7: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.tanh.default(add_155)
        mul_319: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(sigmoid_11, tanh_7);  sigmoid_11 = tanh_7 = None
        t_11: "f32[8, 3][1, 8]cpu" = torch.ops.aten.t.default(arg6_1)
        addmm_11: "f32[s77, 3][3, 1]cpu" = torch.ops.aten.addmm.default(arg7_1, mul_319, t_11);  t_11 = None
        slice_5: "f32[s77, 7, 6][42, 6, 1]cpu" = torch.ops.aten.slice.Tensor(arg1_1, 0, 0, 9223372036854775807)
        select_4: "f32[s77, 6][42, 1]cpu" = torch.ops.aten.select.int(slice_5, 1, 4);  slice_5 = None
        t_12: "f32[8, 32][1, 8]cpu" = torch.ops.aten.t.default(arg3_1)
        addmm_12: "f32[s77, 32][32, 1]cpu" = torch.ops.aten.addmm.default(arg5_1, mul_319, t_12);  mul_319 = t_12 = None
        t_13: "f32[6, 32][1, 6]cpu" = torch.ops.aten.t.default(arg2_1)
        addmm_13: "f32[s77, 32][32, 1]cpu" = torch.ops.aten.addmm.default(arg4_1, select_4, t_13);  select_4 = t_13 = None
        add_162: "f32[s77, 32][32, 1]cpu" = torch.ops.aten.add.Tensor(addmm_12, addmm_13);  addmm_12 = addmm_13 = None
        unsafe_split_4 = torch.ops.aten.unsafe_split.Tensor(add_162, 8, 1);  add_162 = None
        getitem_16: "f32[s77, 8][32, 1]cpu" = unsafe_split_4[0]
        getitem_17: "f32[s77, 8][32, 1]cpu" = unsafe_split_4[1]
        getitem_18: "f32[s77, 8][32, 1]cpu" = unsafe_split_4[2]
        getitem_19: "f32[s77, 8][32, 1]cpu" = unsafe_split_4[3];  unsafe_split_4 = None
        sigmoid_12: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.sigmoid.default(getitem_16);  getitem_16 = None
        sigmoid_13: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.sigmoid.default(getitem_17);  getitem_17 = None
        tanh_8: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.tanh.default(getitem_18);  getitem_18 = None
        sigmoid_14: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.sigmoid.default(getitem_19);  getitem_19 = None
        mul_393: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(sigmoid_13, add_155);  sigmoid_13 = add_155 = None
        mul_394: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(sigmoid_12, tanh_8);  sigmoid_12 = tanh_8 = None
        add_194: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.add.Tensor(mul_393, mul_394);  mul_393 = mul_394 = None
        tanh_9: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.tanh.default(add_194)
        mul_399: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(sigmoid_14, tanh_9);  sigmoid_14 = tanh_9 = None
        t_14: "f32[8, 3][1, 8]cpu" = torch.ops.aten.t.default(arg6_1)
        addmm_14: "f32[s77, 3][3, 1]cpu" = torch.ops.aten.addmm.default(arg7_1, mul_399, t_14);  t_14 = None
        slice_6: "f32[s77, 7, 6][42, 6, 1]cpu" = torch.ops.aten.slice.Tensor(arg1_1, 0, 0, 9223372036854775807)
        select_5: "f32[s77, 6][42, 1]cpu" = torch.ops.aten.select.int(slice_6, 1, 5);  slice_6 = None
        t_15: "f32[8, 32][1, 8]cpu" = torch.ops.aten.t.default(arg3_1)
        addmm_15: "f32[s77, 32][32, 1]cpu" = torch.ops.aten.addmm.default(arg5_1, mul_399, t_15);  mul_399 = t_15 = None
        t_16: "f32[6, 32][1, 6]cpu" = torch.ops.aten.t.default(arg2_1)
        addmm_16: "f32[s77, 32][32, 1]cpu" = torch.ops.aten.addmm.default(arg4_1, select_5, t_16);  select_5 = t_16 = None
        add_201: "f32[s77, 32][32, 1]cpu" = torch.ops.aten.add.Tensor(addmm_15, addmm_16);  addmm_15 = addmm_16 = None
        unsafe_split_5 = torch.ops.aten.unsafe_split.Tensor(add_201, 8, 1);  add_201 = None
        getitem_20: "f32[s77, 8][32, 1]cpu" = unsafe_split_5[0]
        getitem_21: "f32[s77, 8][32, 1]cpu" = unsafe_split_5[1]
        getitem_22: "f32[s77, 8][32, 1]cpu" = unsafe_split_5[2]
        getitem_23: "f32[s77, 8][32, 1]cpu" = unsafe_split_5[3];  unsafe_split_5 = None
        sigmoid_15: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.sigmoid.default(getitem_20);  getitem_20 = None
        sigmoid_16: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.sigmoid.default(getitem_21);  getitem_21 = None
        tanh_10: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.tanh.default(getitem_22);  getitem_22 = None
        sigmoid_17: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.sigmoid.default(getitem_23);  getitem_23 = None
        mul_473: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(sigmoid_16, add_194);  sigmoid_16 = add_194 = None
        mul_474: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(sigmoid_15, tanh_10);  sigmoid_15 = tanh_10 = None
        add_233: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.add.Tensor(mul_473, mul_474);  mul_473 = mul_474 = None
        tanh_11: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.tanh.default(add_233)
        mul_479: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(sigmoid_17, tanh_11);  sigmoid_17 = tanh_11 = None
        t_17: "f32[8, 3][1, 8]cpu" = torch.ops.aten.t.default(arg6_1)
        addmm_17: "f32[s77, 3][3, 1]cpu" = torch.ops.aten.addmm.default(arg7_1, mul_479, t_17);  t_17 = None
        slice_7: "f32[s77, 7, 6][42, 6, 1]cpu" = torch.ops.aten.slice.Tensor(arg1_1, 0, 0, 9223372036854775807);  arg1_1 = None
        select_6: "f32[s77, 6][42, 1]cpu" = torch.ops.aten.select.int(slice_7, 1, 6);  slice_7 = None
        t_18: "f32[8, 32][1, 8]cpu" = torch.ops.aten.t.default(arg3_1);  arg3_1 = None
        addmm_18: "f32[s77, 32][32, 1]cpu" = torch.ops.aten.addmm.default(arg5_1, mul_479, t_18);  arg5_1 = mul_479 = t_18 = None
        t_19: "f32[6, 32][1, 6]cpu" = torch.ops.aten.t.default(arg2_1);  arg2_1 = None
        addmm_19: "f32[s77, 32][32, 1]cpu" = torch.ops.aten.addmm.default(arg4_1, select_6, t_19);  arg4_1 = select_6 = t_19 = None
        add_240: "f32[s77, 32][32, 1]cpu" = torch.ops.aten.add.Tensor(addmm_18, addmm_19);  addmm_18 = addmm_19 = None
        unsafe_split_6 = torch.ops.aten.unsafe_split.Tensor(add_240, 8, 1);  add_240 = None
        getitem_24: "f32[s77, 8][32, 1]cpu" = unsafe_split_6[0]
        getitem_25: "f32[s77, 8][32, 1]cpu" = unsafe_split_6[1]
        getitem_26: "f32[s77, 8][32, 1]cpu" = unsafe_split_6[2]
        getitem_27: "f32[s77, 8][32, 1]cpu" = unsafe_split_6[3];  unsafe_split_6 = None
        sigmoid_18: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.sigmoid.default(getitem_24);  getitem_24 = None
        sigmoid_19: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.sigmoid.default(getitem_25);  getitem_25 = None
        tanh_12: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.tanh.default(getitem_26);  getitem_26 = None
        sigmoid_20: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.sigmoid.default(getitem_27);  getitem_27 = None
        mul_553: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(sigmoid_19, add_233);  sigmoid_19 = add_233 = None
        mul_554: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(sigmoid_18, tanh_12);  sigmoid_18 = tanh_12 = None
        add_272: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.add.Tensor(mul_553, mul_554);  mul_553 = mul_554 = None
        tanh_13: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.tanh.default(add_272)
        mul_559: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(sigmoid_20, tanh_13);  sigmoid_20 = tanh_13 = None
        t_20: "f32[8, 3][1, 8]cpu" = torch.ops.aten.t.default(arg6_1);  arg6_1 = None
        addmm_20: "f32[s77, 3][3, 1]cpu" = torch.ops.aten.addmm.default(arg7_1, mul_559, t_20);  arg7_1 = t_20 = None
        stack: "f32[s77, 7, 3][21, 3, 1]cpu" = torch.ops.aten.stack.default([addmm_2, addmm_5, addmm_8, addmm_11, addmm_14, addmm_17, addmm_20], 1);  addmm_2 = addmm_5 = addmm_8 = addmm_11 = addmm_14 = addmm_17 = addmm_20 = None
        return (stack, mul_559, add_272)
