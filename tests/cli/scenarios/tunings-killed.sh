# SPDX-License-Identifier: Apache-2.0
# Several processes merge into one tuning file and are killed at random moments: the file is always
# readable, and has every entry whose merge had finished. TILE_TEST_KILLS is the number of kills.
hash=$(printf '%064d' 0)
one() { # one N: a file with one entry, of key N
  printf '{"tile_tune": 1, "entries": [\n{"kernel": "k", "target": "sm_80", "device": "d", "types": "i32", "key": {"n": %d}, "config": {"BLOCK": 64}, "ms": 1, "tuned": "0.1.0", "hash": "%s"}\n]}\n' "$1" "$hash"
}
writer() { # writer W: merges one entry after the other, two of three killed after a while
  local n=$1 pid
  for ((i = 0; i < ${TILE_TEST_KILLS:-24} / 3; i++, n += 3)); do
    one "$n" > "from$1.json"
    "$tilec" --tunings merge all.tune.json "from$1.json" &
    pid=$!
    if [ $((i % 3)) != 0 ]; then
      sleep "0.$(printf %03d $((RANDOM % 120)))"
      kill -9 $pid 2> /dev/null
    fi
    wait $pid 2> /dev/null && echo "$n" >> "done$1"
  done
}
touch done0 done1 done2
one 1000000 > all.tune.json
for w in 0 1 2; do writer $w & done
while [ -n "$(jobs -r)" ]; do
  status 0 tilec --tunings show all.tune.json
  has out 'n=1000000'
done
wait
status 0 tilec --tunings show --json all.tune.json
for n in $(cat done0 done1 done2); do has out "\"n\": $n}"; done
[ -s done0 ] && [ -s done1 ] && [ -s done2 ] || { echo "no merge ended"; exit 1; }
one 2000000 > last.json
status 0 tilec --tunings merge all.tune.json last.json
[ ! -e all.tune.json.lock ] || { echo "the lock file is left"; exit 1; }
