# SPDX-License-Identifier: Apache-2.0
# --layout and --bench.

check "draws a fragment" 0 'T0:0
T31:' --layout 'mma_v2 16x8'
check "draws from several words" 0 'T0:0' --layout mma_v2 16x8
check "draws as JSON" 0 '^\{' --layout 'mma_v2 16x8' --json
check "draws as SVG" 0 '' --layout 'mma_v2 16x8' -o fragment.svg
log=/dev/null
head -c 400 fragment.svg | grep -q '<svg'; report $? "and the file is one"
check "malformed layout" 1 '\[E0740\]' --layout 'mna_v2 16x8'
check "no layout" 2 '\[E0702\]' --layout

check "bench on the host" 0 'GB/s
p20 .* p80
of a device copy' --bench "$add" --target host --arg 'x=f32[4096]:rand(0)' --arg 'y=f32[4096]:rand(1)' \
  --arg 'out=f32[4096]' --arg n=4096 --grid 'cdiv(n,BLOCK)' --repeats 5
check "bench as JSON" 0 '^\{"kernel": "add"
"launches": 5
"tflops": ' --bench "$add" --target host --arg 'x=f32[4096]:rand(0)' --arg 'y=f32[4096]:rand(1)' \
  --arg 'out=f32[4096]' --arg n=4096 --grid 'cdiv(n,BLOCK)' --repeats 5 --flops 4096 --json
