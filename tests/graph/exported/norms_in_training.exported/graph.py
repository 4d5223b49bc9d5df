ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, p_inner_linear_weight: "f32[5, 3]", p_inner_linear_bias: "f32[5]", p_inner_channels_weight: "f32[5]", p_inner_channels_bias: "f32[5]", b_inner_channels_running_mean: "f32[5]", b_inner_channels_running_var: "f32[5]", b_inner_channels_num_batches_tracked: "i64[]", b_inner_instances_running_mean: "f32[3]", b_inner_instances_running_var: "f32[3]", b_inner_instances_num_batches_tracked: "i64[]", a: "f32[s97, 3]"):
            linear: "f32[s97, 5]" = torch.ops.aten.linear.default(a, p_inner_linear_weight, p_inner_linear_bias);  p_inner_linear_weight = p_inner_linear_bias = None
            add_: "i64[]" = torch.ops.aten.add_.Tensor(b_inner_channels_num_batches_tracked, 1);  b_inner_channels_num_batches_tracked = add_ = None
            batch_norm: "f32[s97, 5]" = torch.ops.aten.batch_norm.default(linear, p_inner_channels_weight, p_inner_channels_bias, b_inner_channels_running_mean, b_inner_channels_running_var, True, 0.1, 1e-05, False);  linear = p_inner_channels_weight = p_inner_channels_bias = b_inner_channels_running_mean = b_inner_channels_running_var = None
            relu: "f32[s97, 5]" = torch.ops.aten.relu.default(batch_norm);  batch_norm = None
            transpose: "f32[3, s97]" = torch.ops.aten.transpose.int(a, 0, 1);  a = None
            unsqueeze: "f32[1, 3, s97]" = torch.ops.aten.unsqueeze.default(transpose, 0);  transpose = None
            instance_norm: "f32[1, 3, s97]" = torch.ops.aten.instance_norm.default(unsqueeze, None, None, b_inner_instances_running_mean, b_inner_instances_running_var, True, 0.1, 1e-05, False);  unsqueeze = b_inner_instances_running_mean = b_inner_instances_running_var = None
            return (relu, instance_norm)
Graph signature:
    # inputs
    p_inner_linear_weight: PARAMETER target='inner.linear.weight'
    p_inner_linear_bias: PARAMETER target='inner.linear.bias'
    p_inner_channels_weight: PARAMETER target='inner.channels.weight'
    p_inner_channels_bias: PARAMETER target='inner.channels.bias'
    b_inner_channels_running_mean: BUFFER target='inner.channels.running_mean' persistent=True
    b_inner_channels_running_var: BUFFER target='inner.channels.running_var' persistent=True
    b_inner_channels_num_batches_tracked: BUFFER target='inner.channels.num_batches_tracked' persistent=True
    b_inner_instances_running_mean: BUFFER target='inner.instances.running_mean' persistent=True
    b_inner_instances_running_var: BUFFER target='inner.instances.running_var' persistent=True
    b_inner_instances_num_batches_tracked: BUFFER target='inner.instances.num_batches_tracked' persistent=True
    a: USER_INPUT
    # outputs
    relu: USER_OUTPUT
    instance_norm: USER_OUTPUT
Range constraints: {s97: VR[2, int_oo]}
