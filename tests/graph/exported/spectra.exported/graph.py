ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, p_inner_turn: "f32[]", a: "f32[s97, 12]"):
            sym_size_int_2: "Sym(s97)" = torch.ops.aten.sym_size.int(a, 0)
            fft_fft: "c64[s97, 12]" = torch.ops.aten.fft_fft.default(a)
            fft_fftshift: "c64[s97, 12]" = torch.ops.aten.fft_fftshift.default(fft_fft, [-1]);  fft_fft = None
            fft_ihfft: "c64[s97, 7]" = torch.ops.aten.fft_ihfft.default(a)
            fft_hfft: "f32[s97, 12]" = torch.ops.aten.fft_hfft.default(fft_ihfft);  fft_ihfft = None
            fft_rfftfreq: "f32[7]" = torch.ops.aten.fft_rfftfreq.default(12, 0.5, device = device(type='cpu'), pin_memory = False)
            fft_rfft: "c64[s97, 7]" = torch.ops.aten.fft_rfft.default(a)
            abs_1: "f32[s97, 7]" = torch.ops.aten.abs.default(fft_rfft);  fft_rfft = None
            mul: "f32[s97, 7]" = torch.ops.aten.mul.Tensor(fft_rfftfreq, abs_1);  fft_rfftfreq = abs_1 = None
            hamming_window: "f32[6]" = torch.ops.aten.hamming_window.default(6, device = device(type='cpu'), pin_memory = False)
            view: "f32[1, s97, 12]" = torch.ops.aten.view.default(a, [1, sym_size_int_2, 12]);  a = None
            pad: "f32[1, s97, 18]" = torch.ops.aten.pad.default(view, [3, 3], 'reflect');  view = None
            view_1: "f32[s97, 18]" = torch.ops.aten.view.default(pad, [sym_size_int_2, 18]);  pad = sym_size_int_2 = None
            stft: "c64[s97, 4, 7]" = torch.ops.aten.stft.default(view_1, 6, 2, None, hamming_window, False, None, True);  view_1 = None
            abs_2: "f32[s97, 12]" = torch.ops.aten.abs.default(fft_fftshift);  fft_fftshift = None
            ones: "f32[]" = torch.ops.aten.ones.default([], device = device(type='cpu'), pin_memory = False)
            polar: "c64[]" = torch.ops.aten.polar.default(ones, p_inner_turn);  ones = p_inner_turn = None
            mul_1: "c64[s97, 4, 7]" = torch.ops.aten.mul.Tensor(stft, polar);  polar = None
            istft: "f32[s97, 12]" = torch.ops.aten.istft.default(mul_1, 6, 2, None, hamming_window);  mul_1 = hamming_window = None
            m_h: "c64[s97, 7, 4]" = torch.ops.aten.mH.default(stft)
            matmul: "c64[s97, 4, 4]" = torch.ops.aten.matmul.default(stft, m_h);  stft = m_h = None
            real: "f32[s97, 4, 4]" = torch.ops.aten.real.default(matmul);  matmul = None
            return (abs_2, fft_hfft, mul, istft, real)
Graph signature:
    # inputs
    p_inner_turn: PARAMETER target='inner.turn'
    a: USER_INPUT
    # outputs
    abs_2: USER_OUTPUT
    fft_hfft: USER_OUTPUT
    mul: USER_OUTPUT
    istft: USER_OUTPUT
    real: USER_OUTPUT
Range constraints: {s97: VR[0, int_oo]}
