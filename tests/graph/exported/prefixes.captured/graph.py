class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "Sym(s50)", arg1_1: "f32[6, s50][s50, 1]cpu"):
        view: "f32[6, s50][s50, 1]cpu" = torch.ops.aten.view.default(arg1_1, [6, -1]);  arg1_1 = None
        sigmoid: "f32[6, s50][s50, 1]cpu" = torch.ops.aten.sigmoid.default(view)
        permute: "f32[6, s50][s50, 1]cpu" = torch.ops.aten.permute.default(sigmoid, [0, 1]);  sigmoid = None
        permute_1: "f32[6, s50][s50, 1]cpu" = torch.ops.aten.permute.default(view, [0, 1])
        associative_scan_combine_graph_0 = self.associative_scan_combine_graph_0
        associative_scan = torch.ops.higher_order.associative_scan(associative_scan_combine_graph_0, [permute, permute_1], (arg0_1,));  associative_scan_combine_graph_0 = permute = permute_1 = None
        getitem: "f32[6, s50][s50, 1]cpu" = associative_scan[0]
        getitem_1: "f32[6, s50][s50, 1]cpu" = associative_scan[1];  associative_scan = None
        permute_2: "f32[6, s50][s50, 1]cpu" = torch.ops.aten.permute.default(getitem, [0, 1]);  getitem = None
        permute_3: "f32[6, s50][s50, 1]cpu" = torch.ops.aten.permute.default(getitem_1, [0, 1]);  getitem_1 = None
        select: "f32[s50][1]cpu" = torch.ops.aten.select.int(view, 0, 0)
        zeros_like: "f32[s50][1]cpu" = torch.ops.aten.zeros_like.default(select, pin_memory = False);  select = None
        scan_combine_graph_0 = self.scan_combine_graph_0
        scan = torch.ops.higher_order.scan(scan_combine_graph_0, [zeros_like], [view], (arg0_1,));  scan_combine_graph_0 = zeros_like = view = arg0_1 = None
        getitem_2: "f32[s50][1]cpu" = scan[0]
        getitem_3: "f32[6, s50][s50, 1]cpu" = scan[1];  scan = None
        return (permute_2, permute_3, getitem_2, getitem_3)
    class associative_scan_combine_graph_0(torch.nn.Module):
        def forward(self, arg0_1: "f32[s50][1]cpu", arg1_1: "f32[s50][1]cpu", arg2_1: "f32[s50][1]cpu", arg3_1: "f32[s50][1]cpu", arg4_1: "Sym(s50)"):
            mul: "f32[s50][1]cpu" = torch.ops.aten.mul.Tensor(arg0_1, arg2_1);  arg0_1 = None
            mul_1: "f32[s50][1]cpu" = torch.ops.aten.mul.Tensor(arg1_1, arg2_1);  arg1_1 = arg2_1 = None
            add: "f32[s50][1]cpu" = torch.ops.aten.add.Tensor(mul_1, arg3_1);  mul_1 = arg3_1 = None
            return [mul, add]
    class scan_combine_graph_0(torch.nn.Module):
        def forward(self, arg0_1: "f32[s50][1]cpu", arg1_1: "f32[s50][1]cpu", arg2_1: "Sym(s50)"):
            sigmoid: "f32[s50][1]cpu" = torch.ops.aten.sigmoid.default(arg1_1)
            mul: "f32[s50][1]cpu" = torch.ops.aten.mul.Tensor(arg0_1, sigmoid);  arg0_1 = sigmoid = None
            add: "f32[s50][1]cpu" = torch.ops.aten.add.Tensor(mul, arg1_1);  mul = arg1_1 = None
            mul_1: "f32[s50][1]cpu" = torch.ops.aten.mul.Tensor(add, 2)
            return [add, mul_1]
