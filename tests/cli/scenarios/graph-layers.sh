# SPDX-License-Identifier: Apache-2.0
# GPT-2 in several depths: equal kernels of its layers are compiled once, and results are right. The time
# to plan a deep one is linear in its nodes.
command -v python3 > /dev/null || exit 0
gpt2() { python3 -B "$HERE/../../bench/gpt2_graph.py" "$@"; }
small="--batch 2 --tokens 16 --width 64 --heads 2 --vocab 96 --dtype f32"
kernels() { sed -n 's/^<lambda>: \([0-9]*\) kernels, .*/\1/p' "$1"; }

for layers in 3 6; do
  gpt2 --layers $layers $small > $layers.py || exit 1
  status 0 tilec --graph $layers.py --emit=plan --target sm_90a -o $layers.plan
done
test "$(kernels 3.plan)" -gt 5 && test "$(kernels 3.plan)" = "$(kernels 6.plan)" || { cat 3.plan 6.plan; exit 1; }
status 0 tilec --graph 3.py --run --check --target cpu
has out 'checked    against the reference interpreter'

gpt2 --layers 200 > deep.py || exit 1
status 0 timeout 120 "$tilec" --graph deep.py --emit=plan --target sm_90a -o deep.plan
has deep.plan ' launches'
