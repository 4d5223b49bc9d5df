# SPDX-License-Identifier: Apache-2.0
# Options: help, spelling mistakes, values, invalid combinations.

check "no arguments: the usage" 2 '--run
--doctor
Exit status'
check "--help begins with examples" 0 '^  tilec .*--emit=ptx
--print-ir-after'  --help
check "--version" 0 '^tilec [0-9]+\.[0-9]+\.[0-9]+' --version
check "--version --json" 0 '^\{"version": "' --version --json
check "--list-passes" 0 '^coalesce +[a-z]
^assign-layouts ' --list-passes
check "--list-passes --json" 0 '^\[\{"name": "use-tensor-maps", "doc": "' --list-passes --json
check "--doctor" 0 'compiler +
cpu +' --doctor
check "--doctor --json" 0 '^\[\{"level": "ok", "topic": "compiler"' --doctor --json

check "--explain" 0 '^E0801: 
mask' --explain E0801
check "--explain in lower case" 0 '^E0724: ' --explain e0724
check "--explain of an unknown code" 2 'E9999.*\[E0708\]' --explain E9999
check "--explain without a code" 2 '\[E0702\]' --explain

check "unknown option" 2 'unknown option `--emti` \[E0701\]
\^~+
did you mean `--emit`' add.tile --emti=ptx
check "unknown option without a neighbour" 2 '\[E0701\]
tilec --help' add.tile --frobnicate
check "missing value" 2 '`--grid` .*\[E0702\]' --run add.tile --grid
check "a value that none is wanted of" 2 '\[E0702\]' add.tile --json=yes
check "a word that is not among the choices" 2 'unknown value `asm` of `--emit` \[E0702\]' add.tile --emit=asm
check "a misspelled choice" 2 'did you mean `ptx`' add.tile --emit=ptz
check "a number that is none" 2 '\[E0702\]' add.tile --num-stages=many
check "warps: a power of two" 2 'power of two \[E0702\]' add.tile --num-warps=3
check "registers: too few" 2 'at least 16 \[E0702\]' add.tile --max-registers=8
check "warps: too many" 2 '\[E0702\]' add.tile --num-warps=64
check "a tolerance below 0" 2 '\[E0702\]' --run add.tile --rtol=-1
check "two modes" 2 '\[E0703\]' --run --bench add.tile
check "two files" 2 '\[E0703\]' add.tile sub.tile
check "no file" 2 '\[E0703\]' --emit=ptx
check "unknown target" 2 'unknown target `sm_91` \[E0704\]
did you mean `sm_9?[0-9]' add.tile --target sm_91
check "a target that is like no other" 2 '\[E0704\]
`cpu`' add.tile --target=avx512
check "unknown pass" 2 'coalesc.*\[E0705\]
did you mean `coalesce`' "$add" --target sm_80 --print-ir-after=coalesc
check "malformed signature" 2 '\[E0706\]' "$add" --target sm_80 --signature 'x=*f99'
check "malformed definition" 2 '\[E0707\]' "$add" --target sm_80 -D BLOCK
check "messages as JSON" 2 '^\{"diagnostics": \[\{"severity": "error", "code": "E0701"' --diagnostics=json --frobnicate
check "no colour into a file" 2 '!'$'\033' --frobnicate
check "colour when it is asked for" 2 $'\033'\\[1\;31m --color=always --frobnicate
check "a wrong name in a list of passes" 2 'unknown pass `dse` \[E0705\]
did you mean `[cd][cs]e`' "$add" --passes=cse,dse,licm
check "nothing after a comma" 2 '\[E0705\]' "$add" --passes=cse,
check "an unknown effort" 2 'unknown value `ful` of `--effort` \[E0702\]
did you mean `full`' --autotune add.tile --effort ful
check "a seed below 0" 2 '`--seed` wants a whole number.*\[E0702\]' --autotune add.tile --seed -1
check "no candidates" 2 '\[E0702\]' --autotune add.tile --candidates 0
check "a budget below 0" 2 '\[E0702\]' --autotune add.tile --budget=-3
check "tuning and something else" 2 'two modes' --autotune --run add.tile
check "tuning writes no arguments" 2 '`--out` is not for `--autotune` \[E0703\]
--autotune add\.tile --out out=@sum\.npy
\^~+
help: `--run` afterwards' --autotune add.tile --out out=@sum.npy
check "tuning checks no accesses" 2 '`--check` is not for `--autotune` \[E0703\]
help: checked accesses would be timed' --autotune --check add.tile
