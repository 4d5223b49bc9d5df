# SPDX-License-Identifier: Apache-2.0
# --graph --max-autotune on the CPU: measures kernels; later runs and emitted sources use the tuning file,
# which is checked first. Weights by name from files.
cat > model.py <<'GRAPH'
class G(torch.nn.Module):
    def forward(self, x: "f32[64, 256]", state: "f32[256]"):
        softmax = torch.ops.aten._softmax.default(x, -1, False)
        sum_1 = torch.ops.aten.sum.dim_IntList(x, [0])
        add = torch.ops.aten.add.Tensor(state, sum_1)
        copy_ = torch.ops.aten.copy_.default(state, add)
        return (softmax,)
GRAPH
status 0 tilec --graph model.py --emit=tile --target cpu
cp out plain.tile
status 0 tilec --graph model.py --run --check --target cpu --max-autotune --candidates 8
has err 'max-autotune: softmax'
has err 'num_warps='
has out 'checked    against the reference interpreter'
has out '2 kernels measured, 0 on file, 0 as emitted (model.tune.json)'
has model.tune.json '"target": "cpu"'
test "$(grep -c '"kernel"' model.tune.json)" = 2 || { cat model.tune.json; exit 1; }
status 0 tilec --tunings show model.tune.json
has out 'num_warps='
lacks out 'stale'

# Later runs and printed sources use it. Nothing is measured again.
status 0 tilec --graph model.py --run --check --target cpu
has out '0 kernels measured, 2 on file, 0 as emitted'
status 0 tilec --graph model.py --bench --repeats 2 --target cpu --max-autotune
has out '0 kernels measured, 2 on file'
has err '(on file)'
sed -i '/"kernel": "softmax_sum_add"/s/"XBLOCK": [0-9]*/"XBLOCK": 2/' model.tune.json
status 0 tilec --graph model.py --emit=tile --target cpu
has out 'XBLOCK: constexpr = 2,'
status 0 tilec --graph model.py --run --check --target cpu
has out '2 on file'
status 0 tilec --graph model.py --emit=tile --target cpu --no-tunings
cmp out plain.tile

# Entries outside of a kernel's space are ignored; malformed files are rejected.
sed -i 's/"XBLOCK": 2\b/"XBLOCK": 3/' model.tune.json
status 0 tilec --graph model.py --emit=tile --target cpu
lacks out 'XBLOCK: constexpr = 3,'
status 0 tilec --graph model.py --run --check --target cpu
echo '{"tile_tune": 1' > model.tune.json
status 1 tilec --graph model.py --run --target cpu
has err '[E0760]'
status 1 tilec --graph model.py --run --target cpu --max-autotune
has err '[E0760]'
rm model.tune.json

# Without a time budget defaults stay; measuring needs the device's own target.
status 0 tilec --graph model.py --run --check --target cpu --max-autotune --budget 0.000001
has err 'the time for tuning is over'
has out '0 kernels measured, 0 on file, 2 as emitted'
status 0 tilec --graph model.py --emit=plan --target cpu --max-autotune --candidates 4 --tune-file other.json
has out 'softmax_sum_add['
test -s other.json
TILE_LIBCUDA=/nowhere/libcuda.so.1 status 69 tilec --graph model.py --emit=plan --target sm_90a --max-autotune
status 2 tilec add.tile --max-autotune
has err '[E0703]'

# Weights: a folder of .npy, a safetensors file.
cat > linear.py <<'GRAPH'
class G(torch.nn.Module):
    def forward(self, x: "f32[2, 2]", w: "f32[2]"):
        mul = torch.ops.aten.mul.Tensor(x, w)
        return (mul,)
GRAPH
mkdir weights
status 0 tilec --graph linear.py --run --target cpu --arg 'x=f32[2x2]:ones' --arg 'w=f32[2]:fill(3)' --out mul=@weights/x.npy
status 0 tilec --graph linear.py --run --target cpu --weights weights --arg 'w=f32[2]:fill(2)'
has out '[6, 6, 6, 6]'
has out 'random inputs: none'
status 1 tilec --graph linear.py --run --target cpu --weights weights/x.npy --arg 'w=f32[2]:fill(2)' --arg 'x=@nowhere.npy'
has err '[E0710]'
safetensors() { # NAME SHAPE DATA
  local head="{\"$1\":{\"dtype\":\"F32\",\"shape\":[$2],\"data_offsets\":[0,8]}}"
  printf "\\$(printf %03o ${#head})\\0\\0\\0\\0\\0\\0\\0%s" "$head"
  printf "$3"
}
safetensors w 2 '\0\0\0\100\0\0\200\100' > w.safetensors # 2, 4
status 0 tilec --graph linear.py --run --target cpu --weights w.safetensors --arg 'x=f32[2x2]:ones'
has out '[2, 4, 2, 4]'
status 0 tilec --graph linear.py --run --check --target cpu --weights w.safetensors
has out 'random inputs: x'
safetensors w '1,2' '\0\0\0\100\0\0\200\100' > wide.safetensors
status 1 tilec --graph linear.py --run --target cpu --weights wide.safetensors
has err 'input `w` is f32[2], but `wide.safetensors` has f32[1, 2] of that name [E0723]'
safetensors weight 2 '\0\0\0\100\0\0\200\100' > other.safetensors
status 1 tilec --graph linear.py --run --target cpu --weights other.safetensors
has err '[E0721]'
has err 'first tensor is `weight`'
printf 'no tensors' > bad.safetensors
status 1 tilec --graph linear.py --run --target cpu --weights bad.safetensors
has err '[E0710]'
status 1 tilec --graph linear.py --run --target cpu --weights nowhere
has err '[E0710]'
status 2 tilec add.tile --weights weights
has err '[E0703]'
