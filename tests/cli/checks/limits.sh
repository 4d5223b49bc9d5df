#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each limit of base/limits.def without a code other than E0950: the message has the count, the limit and
# a remedy. tests/limits/ has inputs that would compile slowly without limits.
head='def k(x: ptr[f32], n: i32):
  y = load(x + arange(0, 64))'
tail='  store(x + arange(0, 64), y)'
lines() { for _ in $(seq "$1"); do printf '%s\n' "$2"; done; } # lines COUNT TEXT
made() { printf '%s\n' "$head"; lines "$1" "$2"; printf '%s\n' "$tail"; } # made COUNT LINE > FILE

{ printf 'def k(x: ptr[f32]'; printf ', a%d: i32' $(seq 5000); printf '):\n  store(x, 1.0)\n'; } > parameters.tile
check 'limit: parameters' 75 '5001 parameters of a function; at most 4095 are possible \[E0950\]
help: pass an array in memory' parameters.tile --target=sm_80
{ printf '@jit\ndef h0(y):\n  return y * 2.0\n'
  for i in $(seq 30); do printf '@jit\ndef h%d(y):\n  return h%d(h%d(y))\n' $i $((i - 1)) $((i - 1)); done
  echo '@jit'; made 1 '  y = h30(y)'; } > statements.tile
check 'limit: statements after inlining' 75 'error: more than [0-9]* (statements after inlining and unrolling|operations of a module of IR) \[E0950\]
help: use `range` instead' statements.tile --target=sm_80
made 300 '  y = sort(y)' > operations.tile
check 'limit: operations' 75 'more than 32768 operations of a module of IR \[E0950\]
help: .*split the kernel' operations.tile --target=sm_80
{ printf 'def k(x: ptr[f32]):\n  p = x + arange(0, 128)[:, None] * 128 + arange(0, 128)[None, :]\n  y = load(p)\n'
  lines 200 '  y = dot(y, y)'; printf '  store(p, y)\n'; } > instructions.tile
check 'limit: instructions' 75 'instructions before optimisation.* \[E0950\]
help: use smaller blocks' instructions.tile --target=sm_90a --emit=ptx
made 300 '  for i in range(n): y = y * 1.5' > loops.tile
check 'limit: loops' 75 '300 loops of a kernel; at most 256 are possible \[E0950\]' loops.tile --target=sm_80 --emit=ptx
made 1100 '  y += sum(y, 0)' > shared.tile
check 'limit: shared memory' 75 '[0-9]+ operations that need shared memory; at most 1024 are possible \[E0950\]' shared.tile \
  --target=sm_80 --emit=ptx
{ printf 'module { func.func @k(%%v0: i32) -> i32 {\n'
  for i in $(seq 33000); do printf '%%v%d = arith.addi %%v%d, %%v%d : i32\n' $i $((i - 1)) $((i - 1)); done
  printf 'return %%v33000 : i32 } }\n'; } > operations.mlir
check 'limit: operations of IR text' 75 '3300[0-9] operations of a module of IR; at most 32768' operations.mlir --passes=cse
graph() { printf 'class G(torch.nn.Module):\n    def forward(self, x: "f32[64]"):\n'; }
{ graph; printf '        y = torch.ops.aten.cat.default([x'; printf ', x%.0s' $(seq 3000); printf '])\n        return (y,)\n'; } > operands.py
check 'limit: operands' 75 '3001 elements of a list.*at most 2048 are possible \[E0950\]
help: concatenate in two steps' --graph operands.py --emit=tile
{ graph; printf '        return (x'; printf ', x%.0s' $(seq 17000); printf ')\n'; } > outputs.py
check 'limit: outputs' 75 'more than 16384 inputs, or outputs, of a graph \[E0950\]' --graph outputs.py --emit=tile
{ graph | sed 's/x:/v0:/'
  for i in $(seq 53000); do printf '        v%d = torch.ops.aten._softmax.default(v%d, 0, False)\n' $i $((i - 1)); done
  printf '        return (v53000,)\n'; } > stages.py
check 'limit: loops of a graph' 75 'more than 131072 loops that a graph needs before they are fused \[E0950\]' --graph stages.py --emit=tile
{ printf 'def k(x: ptr[f32]):\n  y = 0'; head -c 2200000 /dev/zero | sed 's/\x0/+1/g'; echo; } > tokens.tile
check 'limit: tokens' 75 'more than 4194304 tokens of a source \[E0950\]' tokens.tile --target=sm_80

# A chain of operators has the limit of docs/limits.md, and no smaller one.
sum_of() { printf 'def k(x: ptr[f32]):\n  y = load(x)\n  store(x, y'; printf ' + y%.0s' $(seq "$1"); printf ')\n'; }
sum_of 990 > chain.tile
check 'limit: 990 operators in a chain are below it' 0 '!error' chain.tile --target=sm_80
sum_of 1001 > chain.tile
check 'limit: 1001 operators in a chain' 75 'error: this expression has more than 1000 levels \[E0902\]' chain.tile --target=sm_80
{ printf 'def k(x: ptr[f32]):\n  y = load(x)\n  store(x, y'; printf '.to(f32)%.0s' $(seq 450); printf ')\n'; } > calls.tile
check 'limit: expressions in each other' 1 'more than 900 nested expressions and statements after inlining \[E0307\]
help: name intermediate results' calls.tile --target=sm_80
