# SPDX-License-Identifier: Apache-2.0
# Options: help, spelling mistakes, values, invalid combinations.

check "no arguments: the usage" 2 '--run
--doctor
^  run FILE.tile +compile, launch once'
check "-h: the summary" 0 '^  tune FILE.tile
!--print-ir-after' -h
check "help: the summary" 0 '^  tune FILE.tile
!--print-ir-after' help
check "--help begins with examples" 0 '^  tilec .*--emit=ptx
--print-ir-after
^Exit status$
^ +75  a limit was reached'  --help
check "help of a verb" 0 '^tilec bench FILE.tile
--repeats N
!--max-autotune' help bench
check "help behind a verb" 0 '^tilec layout SPEC' layout --help
check "help behind an option that is a verb" 0 '^tilec tune FILE.tile' --autotune -h
check "help of an option" 0 '^--tuned-for NAME=N
nearest key' help --tuned-for
check "help of an option without dashes" 0 '^--num-ctas N' help num-ctas
check "help of an unknown word" 2 'no verb and no option is called `beench` \[E0702\]
help: did you mean `tilec help bench`' help beench
check "a misspelled verb" 2 'unknown verb `layuot` \[E0703\]
help: did you mean `tilec layout`' layuot mma_v2 16x8
check "a misspelled verb alone" 1 'no such file: `docter` \[E0710\]
help: did you mean `tilec doctor`' docter
check "a verb without its word" 2 '`tilec explain` wants CODE after it \[E0702\]
\^~+
help: `tilec help explain` has examples' explain
check "a verb and another one as an option" 2 'two modes' run --bench add.tile
check "verb: compile" 0 '\.target sm_80' compile "$add" --target sm_80
check "verb: layout" 0 'T0:0' layout mma_v2 16x8
check "verb: explain" 0 '^E0801: ' explain E0801
check "verb: doctor" 0 'compiler +' doctor
check "verb: passes" 0 '^coalesce ' passes
check "verb: version" 0 '^tilec [0-9]' version
check "verb: run" 0 'out .*changed|out ' run "$add" --target cpu --arg 'x=f32[100]:ones' --arg 'y=f32[100]:iota' --arg 'out=f32[100]:zeros' --arg n=100 --grid 'cdiv(n,BLOCK)'

cat > words << 'WORDS'
# The launch of the first tutorial.
--target cpu  --arg x='f32[100]:ones' --arg "y=f32[100]:iota"
--arg out=f32[100]:zeros
--arg n=100 --grid cdiv(n,\BLOCK)  # a comment
WORDS
check "a response file" 0 '^  out' run "$add" @words
printf -- '--target sm_91' > wrong-words
check "a mistake in a response file" 2 'unknown target `sm_91` \[E0704\]' "$add" @wrong-words
check "a response file that is not there" 2 'cannot read the response file `nowhere`.*\[E0710\]' "$add" @nowhere
printf -- "--arg 'x" > open-quote
check "an open quote" 2 'ends within a quoted word \[E0702\]' "$add" @open-quote
printf '@itself' > itself
check "a response file that names itself" 2 'nested deeper.*\[E0901\]' "$add" @itself
check "a value that begins with @ is no response file" 2 '!response' tune "$add" --space @nowhere.json --emit=binary
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
check "a word that is not among the choices" 2 'unknown value `binary` of `--emit` \[E0702\]' add.tile --emit=binary
check "a misspelled choice" 2 'did you mean `ptx`' add.tile --emit=ptz
check "a number that is none" 2 '\[E0702\]' add.tile --num-stages=many
check "warps: a power of two" 2 'power of two \[E0702\]' add.tile --num-warps=3
check "registers: too few" 2 'from 16 to 255, not `8` \[E0702\]' add.tile --max-registers=8
check "warps: too many" 2 '\[E0702\]' add.tile --num-warps=64
check "a tolerance below 0" 2 '\[E0702\]' --run add.tile --rtol=-1
check "two modes" 2 '\[E0703\]' --run --bench add.tile
check "two files" 2 '\[E0703\]' add.tile sub.tile
check "no file" 2 '\[E0703\]' --emit=ptx
check "unknown target" 2 'unknown target `sm_91` \[E0704\]
did you mean `sm_9?[0-9]' add.tile --target sm_91
check "a target that is like no other" 2 '\[E0704\]
`cpu`' add.tile --target=riscv64
check "a target by the name of its instructions" 2 'did you mean `cpu:x86-64-v4`' add.tile --target=avx512
check "unknown pass" 2 'coalesc.*\[E0705\]
did you mean `coalesce`' "$add" --target sm_80 --print-ir-after=coalesc
check "malformed signature" 2 '\[E0706\]' "$add" --target sm_80 --signature 'x=*f99'
check "malformed definition" 2 '\[E0707\]' "$add" --target sm_80 -D BLOCK
check "messages as JSON" 2 '^\{"diagnostics": \[\{"severity": "error", "code": "E0701"' --diagnostics=json --frobnicate
check "messages as SARIF" 2 '"version": "2.1.0", "runs": \[\{"tool": \{"driver": \{"name": "tilec"
"ruleId": "E0701", "ruleIndex": 0, "level": "error"
"uri": "command%20line"
"fixes": \[\{"artifactChanges"' --diagnostics=sarif add.tile --emti=ptx
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
