# SPDX-License-Identifier: Apache-2.0
# --quiet, --verbose, progress and interruption: a line on a terminal only, and what was measured so far after SIGINT.
args=("$ADD" --target cpu --arg 'x=f32[65536]:ones' --arg 'y=f32[65536]:iota' --arg 'out=f32[65536]:zeros' --arg n=65536 --grid 'cdiv(n,BLOCK)')
status 0 tilec run "${args[@]}" --verbose
has err 'tilec: compiling add for cpu: '
has err 'tilec: running add: '
status 0 tilec run "${args[@]}"
[ ! -s err ] || { cat err; exit 1; }

# A warning, which --quiet leaves out; errors stay.
cp "$HERE/../../diagnostics/E0305-python-division.tile" warns.tile
tilec compile warns.tile --target sm_80 > out 2> err
has err ' warning: '
status 0 tilec compile warns.tile --target sm_80 --quiet
[ ! -s err ] || { cat err; exit 1; }
status 1 tilec compile nowhere.tile --quiet
has err 'no such file'

wait_for() { # wait_for TEXT FILE: until it is there, at most a minute
  local i
  for i in {1..600}; do
    grep -qsF -- "$1" "$2" && return 0
    sleep 0.1
  done
  echo "$2 never has: $1"
  exit 1
}
# Into files there is no progress line, however long it takes.
rm err
"$tilec" bench "${args[@]}" --repeats 1000000 --verbose > out 2> err &
pid=$!
wait_for 'tilec: running add' err
sleep 1.3
kill -INT $pid
wait $pid
[ $? = 130 ] || { cat out err; exit 1; }
has out 'device copy'
has out '(p20 '
lacks err $'\r'
rm err
"$tilec" graph "$HERE/../../../tutorials/13-graph-from-fx/sin_cos.py" --bench --target cpu --repeats 1000000 --verbose --json > out 2> err &
pid=$!
wait_for 'tilec: running' err
sleep 0.2
kill -TERM $pid
wait $pid
[ $? = 143 ] || { cat out err; exit 1; }
has out '"ms_p20": '

# On a terminal a line appears after a second and is erased.
if command -v script > /dev/null; then
  printf 'exec timeout -s INT 3 "$tilec" bench' > command
  printf ' %q' "${args[@]}" --repeats 1000000 >> command
  export tilec
  TERM=xterm script -qec "bash ./command" typescript < /dev/null > out
  has out 'timing add  '
  has out '/1000000  '
  has out $'\r\033[Kadd on '
fi
