# SPDX-License-Identifier: Apache-2.0
# Interrupted tuning keeps the best so far; tuning killed at any moment loses no
# measurement; concurrent tunings corrupt neither the journal nor the file.
export TILE_CACHE_DIR=$PWD/cache
cp "$HERE/autotune-bad.tile" bad.tile
launch=(--target cpu --arg 'x=f32[1000]:rand(0)' --arg 'out=f32[1000]:zeros' --arg n=1000 --grid 'cdiv(n,BLOCK)')
wait_for() { # wait_for TEXT FILE: until it is there, at most a minute
  local i
  for i in {1..600}; do
    grep -qsF -- "$1" "$2" && return 0
    sleep 0.1
  done
  echo "$2 never has: $1"
  cat "$2"
  exit 1
}

# A configuration hangs, so that the signal arrives during the search.
"$tilec" --autotune bad.tile "${launch[@]}" --space 'MODE=0,3,BLOCK=256' --tune-timeout 60 > out 2> err &
pid=$!
wait_for 'tuning 1/2' err
kill -INT $pid
wait $pid
[ $? = 130 ] || { cat out err; exit 1; }
has out 'stopped early'
has out 'written  bad.tune.json'
has bad.tune.json '"MODE": 0'
"$tilec" --autotune bad.tile "${launch[@]}" --space 'MODE=0,3,BLOCK=512' --tune-timeout 60 > out 2> err &
pid=$!
wait_for 'tuning 1/2' err
kill -TERM $pid
wait $pid
[ $? = 143 ] || exit 1
# The budget is used up.
status 0 tilec --autotune bad.tile "${launch[@]}" --space 'MODE=0,3,BLOCK=1024' --tune-timeout 60 --budget 4
has out 'stopped early'

# Killed at random moments; the journal only grows.
space='BLOCK=16..2048:x2,num_warps=1,2'
before=0
for delay in 0.15 0.25 0.2 0.35 0.3 0.5; do
  "$tilec" --autotune bad.tile "${launch[@]}" --space "$space" > out 2> err &
  pid=$!
  sleep $delay
  kill -KILL $pid 2> /dev/null
  wait $pid 2> /dev/null
  status 0 tilec --autotune bad.tile "${launch[@]}" --space "$space" --effort none --json # measures nothing
  after=$(grep -o '"resumed": true' out | wc -l)
  [ "$after" -ge "$before" ] || { echo "$before trials were known, now $after"; exit 1; }
  before=$after
done
status 0 tilec --autotune bad.tile "${launch[@]}" --space "$space"
has out '16 of 16 configurations measured'

# Two tunings at once, with different keys and one file.
other=(--target cpu --arg 'x=f32[500]:rand(0)' --arg 'out=f32[500]:zeros' --arg n=500 --grid 'cdiv(n,BLOCK)')
"$tilec" --autotune bad.tile "${launch[@]}" --space 'BLOCK=64..512:x2' --no-resume > out1 2> err1 &
first=$!
"$tilec" --autotune bad.tile "${other[@]}" --space 'BLOCK=64..512:x2' --no-resume > out2 2> err2 &
second=$!
wait $first || { cat out1 err1; exit 1; }
wait $second || { cat out2 err2; exit 1; }
has bad.tune.json '"key": {"n": 1000}'
has bad.tune.json '"key": {"n": 500}'
status 0 tilec --tunings show bad.tile
