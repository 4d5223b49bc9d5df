# SPDX-License-Identifier: Apache-2.0
# FILE.tune.json: modes that use it, rejected files, --tunings. The hash is computed here as in
# autotune/database/key.c: fields with their lengths, the format's name and the kernel's text.

number() { # number N: eight bytes, the lowest first
  local i
  for i in 0 8 16 24 32 40 48 56; do printf "\\x$(printf %x $((($1 >> i) & 255)))"; done
}
hash_of() {
  { number 11; printf 'tile tune 1'; number "$(stat -c %s "$1")"; cat "$1"; } | sha256sum | cut -c1-64
}
mkdir tuned
cp "$add" tuned/add.tile
good=$(hash_of tuned/add.tile)
bad=$(printf '0%.0s' {1..64})
cpu=$("$tilec" --run "$add" --json --arg 'x=f32[8]:ones' --arg 'y=f32[8]:ones' --arg 'out=f32[8]:zeros' --arg n=8 --grid 1 --target cpu |
  sed -E 's/.*"device": "([^"]*)".*/\1/')
entry() { # entry TARGET DEVICE TYPES KEY CONFIG MS HASH
  printf '{"kernel": "add", "target": "%s", "device": "%s", "types": "%s", "key": {%s}, "config": {%s}, "ms": %s, "default_ms": 2, "tuned": "0.1.0", "hash": "%s"}' "$@"
}
tunings() { # tunings FILE ENTRY...: a file of these entries
  local file=$1 entry between=''
  shift
  {
    printf '{"tile_tune": 1, "entries": ['
    for entry in "$@"; do printf '%s\n%s' "$between" "$entry"; between=,; done
    printf '\n]}\n'
  } > "$file"
}
launch=(--target cpu --arg 'x=f32[1000]:iota' --arg 'y=f32[1000]:ones' --arg 'out=f32[1000]:zeros' --grid 'cdiv(n,BLOCK)')
types='*f32:16,*f32:16,*f32:16,i32'

# ---- launches ----

tunings tuned/add.tune.json "$(entry cpu "$cpu" "$types" '"n": 1000' '"BLOCK": 64, "num_warps": 2' 1 "$good")" \
  "$(entry cpu "$cpu" "$types" '"n": 8' '"BLOCK": 8' 1 "$good")" \
  "$(entry cpu 'another processor' "$types" '"n": 1000' '"BLOCK": 32' 1 "$good")"
check "a launch takes what was tuned, for its grid too" 0 'grid \(16, 1, 1\)
tuned     BLOCK=64, num_warps=2 from tuned/add.tune.json:2 for n=1000' --run tuned/add.tile "${launch[@]}" --arg n=1000
check "as JSON" 0 '"tuned": \{"file": "tuned/add.tune.json", "line": 2, "key": \{"n": 1000\}, "config": \{"BLOCK": "64", "num_warps": "2"\}\}' \
  --run tuned/add.tile "${launch[@]}" --arg n=1000 --json
check "--bench says so too" 0 'tuned     BLOCK=64' --bench tuned/add.tile "${launch[@]}" --arg n=1000 --repeats 3
check "the nearest key serves" 0 'tuned     BLOCK=64, num_warps=2 from .*, tuned for n=1000' --run tuned/add.tile "${launch[@]}" --arg n=900
check "a key of more than twice as much does not" 0 'grid \(1, 1, 1\)
!tuned' --run tuned/add.tile "${launch[@]}" --arg n=100
check "--no-tunings" 0 'grid \(1, 1, 1\)
!tuned' --run tuned/add.tile "${launch[@]}" --arg n=1000 --no-tunings
check "an entry serves whole or not at all" 0 'grid \(2, 1, 1\)
!tuned' --run tuned/add.tile "${launch[@]}" --arg n=1000 -D BLOCK=512
check "what was given may be what was tuned" 0 'tuned     BLOCK=64, num_warps=2' --run tuned/add.tile "${launch[@]}" --arg n=1000 -D BLOCK=0x40
check "--num-warps overrules" 0 '!tuned' --run tuned/add.tile "${launch[@]}" --arg n=1000 --num-warps 4
check "other hints are other types" 0 '!tuned' --run tuned/add.tile "${launch[@]}" --arg n=992

sed 's/"key"/"fixed": {"BLOCK": 64}, "key"/; s/"BLOCK": 64, "num/"num/' tuned/add.tune.json > fixed.json
mv fixed.json tuned/add.tune.json
check "constants that were fixed in tuning must be given" 0 '!tuned' --run tuned/add.tile "${launch[@]}" --arg n=1000
check "then the entry serves" 0 'tuned     num_warps=2' --run tuned/add.tile "${launch[@]}" --arg n=1000 -D BLOCK=64

tunings tuned/add.tune.json "$(entry cpu "$cpu" "$types" '"n": 1000' '"BLOCK": 64' 1 "$bad")"
check "stale: named and not used" 0 'tuned/add.tune.json:2:1: warning: .*another text of kernel `add`.*\[E0762\]
tilec --autotune
grid \(1, 1, 1\)
!  tuned ' --run tuned/add.tile "${launch[@]}" --arg n=1000
check "another key's stale entry is no matter" 0 '!E0762' --run tuned/add.tile "${launch[@]}" --arg n=100

# ---- builds ----

tunings tuned/add.tune.json "$(entry sm_90a 'NVIDIA H100' "$types" '"n": 1000' '"BLOCK": 256, "num_warps": 2' 1 "$good")" \
  "$(entry sm_80 'NVIDIA A100' "$types" '"n": 1000' '"BLOCK": 512' 1 "$good")"
check "code for a target" 0 'reqntid 64' tuned/add.tile --target sm_90a --emit=ptx
check "not without --target" 0 'reqntid 128' tuned/add.tile --emit=ptx --target sm_89
check "-D leaves nothing open" 0 'reqntid 128' tuned/add.tile --target sm_90a --emit=ptx -D BLOCK=1024
check "--no-tunings in a build" 0 'reqntid 128' tuned/add.tile --target sm_90a --emit=ptx --no-tunings
check "a header has the constants" 0 'BLOCK=256' tuned/add.tile --target sm_90a --emit=header
check "a pack as well" 0 '"constants": "BLOCK=512"' tuned/add.tile --target sm_80 --emit=pack --ptxas none --json
check "targets that do not agree" 1 'tuned for sm_90a and sm_80 in different ways.*\[E0763\]' tuned/add.tile --target sm_90a --target sm_80 --emit=pack --ptxas none --json
tunings tuned/add.tune.json "$(entry sm_90a 'NVIDIA H100' "$types" '"n": 1000' '"BLOCK": 256, "num_warps": 2' 1 "$good")" \
  "$(entry sm_90a 'NVIDIA H200' "$types" '"n": 1000' '"BLOCK": 512, "num_warps": 1' 1 "$good")" \
  "$(entry sm_90a 'NVIDIA H100' "$types" '"n": 9000' '"BLOCK": 512, "num_warps": 8' 1 "$good")"
check "several tunings do not decide" 1 'add.tune.json:2:1: error: .*tuned for sm_90a in 3 ways.*\[E0763\]
n=9000 on NVIDIA H100: BLOCK=512, num_warps=8
--tuned-for .n=1000,device=NVIDIA H100' tuned/add.tile --target sm_90a --emit=ptx
check "--tuned-for: the nearest" 0 'reqntid 256' tuned/add.tile --target sm_90a --emit=ptx --tuned-for n=20000
check "--tuned-for: a device" 0 'reqntid 32' tuned/add.tile --target sm_90a --emit=ptx --tuned-for 'device=NVIDIA H200'
check "--tuned-for: a name that no key has" 1 'near `m=1`.*\[E0763\]' tuned/add.tile --target sm_90a --emit=ptx --tuned-for m=1
check "--tuned-for: no tuning at all" 1 'no tuning of `add` for sm_80.*\[E0763\]' tuned/add.tile --target sm_80 --emit=ptx --tuned-for n=1
check "--tuned-for: no number" 2 '`n=x` is no part of .*\[E0702\]' tuned/add.tile --target sm_90a --emit=ptx --tuned-for n=x
check "--tuned-for wants --target" 2 'add for example `--target sm_90a`' tuned/add.tile --emit=llvm --tuned-for n=1
tunings tuned/add.tune.json "$(entry sm_90a 'NVIDIA H100' "$types" '"n": 1000' '"BLOCK": 256, "num_warps": 2' 1 "$good")" \
  "$(entry sm_90a 'NVIDIA H200' "$types" '"n": 9000' '"BLOCK": 256, "num_warps": 2' 2 "$good")" \
  "$(entry sm_90a 'NVIDIA H200' '*f16:16,*f32:16,*f32:16,i32' '"n": 1' '"BLOCK": 128' 2 "$good")"
check "several that chose the same, and one of other types" 0 'reqntid 64' tuned/add.tile --target sm_90a --emit=ptx
tunings tuned/add.tune.json "$(entry sm_90a 'NVIDIA H100' "$types" '"n": 1000' '"BLOCK": 256, "num_warps": 2' 1 "$good")" \
  "$(entry sm_90a 'NVIDIA H200' "$types" '"n": 1000' '"BLOCK": 512, "num_warps": 1' 1 "$good")" \
  "$(entry sm_90a 'NVIDIA H100' "$types" '"n": 9000' '"BLOCK": 512, "num_warps": 8' 1 "$good")"

# ---- --tunings ----

check "show" 0 '^tuned/add.tune.json: 3 entries$
^kernel  target  for     configuration           ms  default    device$
^add     sm_90a  n=9000  BLOCK=512, num_warps=8  1   2 \(2.00x\)  NVIDIA H100$
!stale' --tunings show tuned/add.tile
tunings old.tune.json "$(entry sm_90a 'NVIDIA H100' "$types" '"n": 1000' '"BLOCK": 128' 3 "$good")" \
  "$(entry sm_90a 'NVIDIA H100' "$types" '"n": 7' '"BLOCK": 8' 0.000123456 "$good")"
cp "$add" old.tile
echo >> old.tile
check "show marks what is stale" 0 'NVIDIA H100  \(stale' --tunings show old.tile
check "show as JSON is a file" 0 '^\{"tile_tune": 1, "entries": \[$
"config": \{"BLOCK": 8\}, "ms": 0.00012346, ' --tunings show --json old.tune.json
check "diff" 1 '^- add sm_90a \(NVIDIA H100\) n=7: BLOCK=8, 0.0001235 ms$
^~ add sm_90a \(NVIDIA H100\) n=1000: BLOCK=128 -> BLOCK=256, num_warps=2, 3 -> 1 ms$
^\+ add sm_90a \(NVIDIA H200\) n=1000: BLOCK=512, num_warps=1, 1 ms$' --tunings diff old.tune.json tuned/add.tune.json
check "no difference" 0 '!.' --tunings diff old.tune.json old.tune.json
check "merge" 0 '!.' --tunings merge old.tune.json tuned/add.tune.json
check "of two for a key the faster stayed" 0 '4 entries
n=1000  BLOCK=256, num_warps=2  1 ' --tunings show old.tune.json
check "merging again changes nothing" 0 '!.' --tunings merge tuned/add.tune.json old.tune.json
check "the files are the same now" 0 '!.' --tunings diff tuned/add.tune.json old.tune.json
cmp -s tuned/add.tune.json old.tune.json
report $? "to the byte"
check "merge makes the first file" 0 '!.' --tunings merge new.tune.json old.tune.json
check "export" 0 '^\{"schema_version": "1.0.0", "results": \[\{"configuration": \{"BLOCK": 8\}, "objectives": \["time"\], "times": \{.*"runtimes": \[0.00012346\].*"invalidity": "correct", "correctness": 1, ' \
  --tunings export old.tune.json
check "no such verb" 2 'did you mean `show`\?' --tunings shwo old.tune.json
check "diff of one" 2 'takes two files' --tunings diff old.tune.json
check "no such file" 1 'no such file: `none.tune.json`.*E0710' --tunings show none.tile
check "two files are for --tunings only" 2 'more than one input file' old.tile "$add"

# ---- malformed ----

malformed() { # malformed NAME PATTERN TEXT
  printf '%s\n' "$3" > broken.tune.json
  check "malformed: $1" 1 "$2" --tunings show broken.tune.json
}
cp "$add" broken.tile
one=$(entry cpu "$cpu" "$types" '"n": 1000' '"BLOCK": 64' 1 "$good")
malformed "no JSON" 'broken.tune.json:1:1: error: expected a value \[E0760\]' hello
malformed "another kind of file" 'this is no file of tunings.*\[E0760\]' '{"entries": []}'
malformed "a newer version" 'broken.tune.json:1:15: error: .*version 7.*\[E0761\]' '{"tile_tune": 7, "entries": 3}'
malformed "a member that is missing" '2:1: error: the entry has no `ms`' "{\"tile_tune\": 1, \"entries\": [
${one/\"ms\": 1, /}]}"
malformed "an unknown member" '2:.*unknown member `mss`
did you mean `ms`' "{\"tile_tune\": 1, \"entries\": [
${one/\"ms\"/\"mss\"}]}"
malformed "a member there twice" '`kernel` is there twice' "{\"tile_tune\": 1, \"entries\": [{\"kernel\": \"a\", \"kernel\": \"b\"}]}"
malformed "a time below 0" 'a number above 0' "{\"tile_tune\": 1, \"entries\": [${one/\"ms\": 1/\"ms\": -1}]}"
malformed "a merge that is to be resolved" '2:1: error: .*
tilec --tunings merge' "{\"tile_tune\": 1, \"entries\": [
<<<<<<< ours
$one
=======
$one
>>>>>>> theirs
]}"
check "a launch does not go on with it" 1 'E0760' --run broken.tile "${launch[@]}" --arg n=1000
check "nor is it merged into" 1 'E0760' --tunings merge broken.tune.json old.tune.json
grep -q theirs broken.tune.json && ! ls | grep -q lock
report $? "it stays as it was"
check "--no-tunings does without" 0 'grid \(1' --run broken.tile "${launch[@]}" --arg n=1000 --no-tunings
