# SPDX-License-Identifier: Apache-2.0
# --trace and TILE_TRACE: what is in the file; files that cannot be written.
run=(tilec --run "$ADD" --target cpu --arg 'x=f32[8]:ones' --arg 'y=f32[8]:ones' --arg 'out=f32[8]:zeros' --arg n=8 --grid 1)
export TILE_CACHE_DIR=
status 0 "${run[@]}" --trace=run.json
for slice in '"name": "parse", "cat": "compile"' '"name": "front end", "cat": "compile"' '"name": "canonicalize", "cat": "pass"' \
  '"name": "codegen", "cat": "compile"' '"name": "add", "cat": "load"' '"name": "add", "cat": "kernel"' '"name": "copy to host", "cat": "copy"'; do
  has run.json "$slice"
done
has run.json '"line": 5, "grid": [1, 1, 1], "target": "cpu"'
test "$(head -c 1 run.json)$(tail -c 3 run.json)" = '{]}' || { echo "the file is not whole"; exit 1; }

TILE_TRACE=all-%p.json status 0 "${run[@]}"
has all-*.json '"name": "add", "cat": "kernel"'
status 0 tilec "$ADD" --emit=ptx --target sm_90a --trace passes.json
has passes.json '"name": "pipeline", "cat": "pass"'
lacks passes.json '"cat": "kernel"'

cat > chain.py <<'END'
def forward(self, x: "f32[64, 32]"):
    exp: "f32[64, 32]" = torch.ops.aten.exp.default(x);  x = None
    sum_1: "f32[64]" = torch.ops.aten.sum.dim_IntList(exp, [1]);  exp = None
    return (sum_1,)
END
status 0 tilec --graph chain.py --run --target cpu --trace graph.json
has graph.json '"cat": "graph"'
has graph.json '"cat": "kernel"'

# Simulated GPUs run kernels when they are launched.
status 0 "${run[@]:0:3}" --target sm_90a --simulate "${run[@]:5}" --trace simulated.json
has simulated.json '"name": "add", "cat": "kernel"'

status 73 "${run[@]}" --trace=no/such/folder.json
has err 'cannot write `no/such/folder.json`: No such file or directory'
status 73 "${run[@]}" --trace=/dev/full
has err 'No space left on device'
TILE_TRACE=no/such/folder.json status 0 "${run[@]}"
