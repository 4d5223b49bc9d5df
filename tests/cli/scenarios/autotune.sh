# SPDX-License-Identifier: Apache-2.0
# --autotune on the CPU end to end: spaces from every source, the tuning file and its use by --run,
# reports in all formats.
export TILE_CACHE_DIR=$PWD/cache
cp "$ADD" add.tile
launch=(--target cpu --arg 'x=f32[5000]:rand(0)' --arg 'y=f32[5000]:rand(1)' --arg 'out=f32[5000]:zeros' --arg n=5000 --grid 'cdiv(n,BLOCK)')
status 0 tilec --autotune add.tile "${launch[@]}" --space 'BLOCK=256..1024:x2,num_warps=1,2' --svg space.svg --t4 t4.json
has out '6 of 6 configurations measured'
has out 'space    --space'
has out 'options  -D BLOCK='
has out 'written  add.tune.json'
has add.tune.json '"kernel": "add"'
has add.tune.json '"key": {"n": 5000}'
has space.svg '</svg>'
has t4.json '"results"'
if command -v python3 > /dev/null; then
  python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("space.svg")' || exit 1
  python3 -c 'import json; assert len(json.load(open("t4.json"))["results"]) == 6' || exit 1
fi
lacks err $'\r' # no terminal's line

# --run compiles the file's configuration.
sed 's/"BLOCK": [0-9]*/"BLOCK": 512/' add.tune.json > changed && mv changed add.tune.json
status 0 tilec --run add.tile "${launch[@]}"
has out 'BLOCK=512'
has out 'grid (10, 1, 1)'

# Earlier measurements are not repeated.
status 0 tilec --autotune add.tile "${launch[@]}" --space 'BLOCK=256..1024:x2,num_warps=1,2' --json
has out '"resumed": true'
lacks out '"outcome": "untried"'
[ ! -s err ] || { cat err; exit 1; }
status 0 tilec --autotune add.tile "${launch[@]}" --space 'BLOCK=256..1024:x2,num_warps=1,2' --json --no-resume
lacks out '"resumed": true'

# A space from a file, another tuning file, a fixed value, prediction only.
printf '{"configs": [{"BLOCK": 128, "num_warps": 1}, {"BLOCK": 1024, "num_warps": 4}]}\n' > space.json
status 0 tilec --autotune add.tile "${launch[@]}" --space @space.json --tune-file kept.json
has out '2 of 2 configurations measured'
has kept.json '"BLOCK"'
status 0 tilec --autotune add.tile "${launch[@]}" --space 'BLOCK=256,512,num_warps=1,2' --num-warps 2 --json
has out '"configurations": 2'
rm add.tune.json
status 0 tilec --autotune add.tile "${launch[@]}" --space 'BLOCK=256,512' --effort none
has out 'nothing was measured'
[ ! -e add.tune.json ] || exit 1

# Without a space it is derived; all results must be equal.
status 0 tilec --run add.tile "${launch[@]}" --out out=@sum.npy
status 0 tilec --autotune add.tile "${launch[@]}" --expect out=@sum.npy --candidates 3
has out 'space    derived'
lacks out 'wrong'
status 0 tilec --run add.tile "${launch[@]/x=f32\[5000\]:rand(0)/x=f32[5000]:ones}" --out out=@other.npy
status 1 tilec --autotune add.tile "${launch[@]}" --expect out=@other.npy --space 'BLOCK=256,512' --no-resume
has out '2 wrong'
has err 'E0764'

# Errors on the command line are reported there.
status 1 tilec --autotune add.tile "${launch[@]}" --space 'BLOCKS=256'
has err 'E0728'
status 1 tilec --autotune add.tile --target cpu --arg 'x=f32[8]' --arg 'y=f32[8]' --arg 'out=f32[8]' --arg n=8 --grid 'cdiv(m,BLOCK)'
has err 'unknown name `m`'
status 2 tilec --autotune add.tile --target cpu --arg 'x=f32[8]' --arg 'y=f32[8]' --arg 'out=f32[8]' --arg n=8
has err 'E0724'
status 2 tilec --autotune add.tile --effort some
has err 'E0702'
status 1 tilec --autotune add.tile "${launch[@]}" --expect out=@missing.npy
has err 'E0710'
status 1 tilec --autotune add.tile "${launch[@]}" --space @missing.json
has err 'E0710'

# An optional parameter that is None belongs to the key of a tuning.
cat > optional.tile <<'KERNEL'
@jit
def k(x, b, out, n: i32, BLOCK: constexpr = 128):
    i = program_id(0) * BLOCK + arange(0, BLOCK)
    v = load(x + i, mask=i < n)
    if b is not None:
        v += load(b + i, mask=i < n)
    store(out + i, v, mask=i < n)
KERNEL
optional=(--target cpu --arg 'x=f32[1000]:ones' --arg 'out=f32[1000]' --arg n=1000 --grid 'cdiv(n,BLOCK)')
status 0 tilec --autotune optional.tile "${optional[@]}" --arg b=None --space 'BLOCK=64,256'
has optional.tune.json '"types": "*f32:16,None,*f32:16,i32"'
status 0 tilec --run optional.tile "${optional[@]}" --arg b=None
has out 'from optional.tune.json'
status 0 tilec --run optional.tile "${optional[@]}" --arg 'b=f32[1000]:ones'
lacks out 'from optional.tune.json'
