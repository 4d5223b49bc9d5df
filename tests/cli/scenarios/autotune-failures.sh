# SPDX-License-Identifier: Apache-2.0
# A space with configurations that are wrong, crash, hang or do not compile finishes normally: each is
# listed with its reason and none wins.
export TILE_CACHE_DIR=$PWD/cache
cp "$HERE/autotune-bad.tile" bad.tile
launch=(--target cpu --arg 'x=f32[1000]:rand(0)' --arg 'out=f32[1000]:zeros' --arg n=1000 --grid 'cdiv(n,BLOCK)' --tune-timeout 3)
status 0 tilec --autotune bad.tile "${launch[@]}" --space 'MODE=0,1,2,3,4,BLOCK=256'
has out '1 of 5 configurations measured'
has out '1 wrong: '
has out '1 launch failed: '
has out '1 timeout: no answer in 3 s'
has out '1 build failed: bad.tile:22:'
for mode in 1 2 3 4; do has out "          MODE=$mode, BLOCK=256"; done
has out 'options  -D MODE=0 -D BLOCK=256'
has bad.tune.json '"MODE": 0'

# A second run does not wait for hanging configurations again, and remembers all failures.
status 0 tilec --autotune bad.tile "${launch[@]}" --space 'MODE=0,1,2,3,4,BLOCK=256' --json
has out '"timeout": 1'
has out '"wrong": 1'
[ "$(grep -o '"checked": [a-z]*, "resumed": true' out | wc -l)" -ge 3 ] || { cat out; exit 1; }

# The default reads out of bounds: another configuration is the reference.
status 0 tilec --autotune bad.tile "${launch[@]}" --space 'MODE=0,2,BLOCK=128,256' -D MODE=0 --no-resume
lacks out 'launch failed'
sed 's/MODE: tl.constexpr = 0/MODE: tl.constexpr = 2/' bad.tile > worse.tile
status 0 tilec --autotune worse.tile "${launch[@]}" --space 'MODE=0,2,BLOCK=256'
has out 'options  -D MODE=0'

# Most disagree with the default: the report says so, and nothing else wins.
sed 's/MODE: tl.constexpr = 0/MODE: tl.constexpr = 1/' bad.tile > odd.tile
status 0 tilec --autotune odd.tile "${launch[@]}" --space 'MODE=0,1,BLOCK=256,512' -D MODE=1
status 0 tilec --autotune odd.tile "${launch[@]}" --space @/dev/stdin <<< '{"configs": [{"MODE": 1, "BLOCK": 256}, {"MODE": 0, "BLOCK": 128}, {"MODE": 0, "BLOCK": 256}, {"MODE": 0, "BLOCK": 512}]}'
has out 'the reference itself may be wrong'
has out 'options  -D MODE=1'

# The worker hangs, is killed and does not start again: the best measured so far wins, and unmeasured
# configurations are not recorded as failures, now or in a later run.
cat > worker.sh << WORKER
#!/bin/sh
[ ! -e broken ] || exit 1
touch broken
exec $tilec "\$@"
WORKER
chmod +x worker.sh
status 0 tilec --autotune bad.tile "${launch[@]}" --space 'MODE=0,BLOCK=32,64,1024' --tune-file lost.json
export TILE_WORKER=$PWD/worker.sh
status 0 tilec --autotune bad.tile "${launch[@]}" --space 'MODE=0,3,BLOCK=32,64,1024' --tune-file lost.json
unset TILE_WORKER
has out '3 of 6 configurations measured'
has out "the tuner's worker does not stay alive: it exited with status 1"
has lost.json '"MODE": 0'
status 0 tilec --autotune bad.tile "${launch[@]}" --space 'MODE=0,3,BLOCK=32,64,1024' --tune-file lost.json
has out '3 of 6 configurations measured'
lacks out 'does not stay alive'

# If the file cannot be written, a message says so, and the result is still printed.
small=("${launch[@]}" --space 'BLOCK=256')
status 73 tilec --autotune bad.tile "${small[@]}" --tune-file bad.tile/tune.json
has err 'cannot write `bad.tile/tune.json`'
has err '`--tune-file` takes another path'
has out '1 of 1 configurations measured'
(ulimit -f 8 && status 1 tilec --autotune bad.tile "${small[@]/x=f32\[1000\]/x=f32[100000]}") || exit 1
has err 'no shared memory of'
has err 'File too large'
(ulimit -n 10 && status 1 tilec --autotune bad.tile "${small[@]}" --no-resume) || exit 1
has err 'error: no '
