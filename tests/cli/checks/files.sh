# SPDX-License-Identifier: Apache-2.0
# Sources and outputs that cannot be read or written.

check "source not found" 1 'no such file: `missing.tile` \[E0710\]' missing.tile
mkdir -p folder.tile
check "source is a folder" 74 '\[E0710\]' folder.tile
head -c $((16 * 1024 * 1024 + 1)) /dev/zero | tr '\0' '#' > large.tile
check "source too large" 75 '\[E0901\]' large.tile
rm -f large.tile
stdin=$add check "source from standard input" 0 '\.visible \.entry add' - --target sm_80 --emit=ptx
check "output folder missing" 73 '\[E0711\]' "$add" --target sm_80 --emit=tile -o no/such/folder/x
check "output device full" 73 '\[E0711\]' "$add" --target sm_80 --emit=tile -o /dev/full
check "output to a file" 0 '!.' "$add" --target sm_80 --emit=ptx -o out.ptx
log=/dev/null
grep -q '\.visible \.entry add' out.ptx; report $? "and the file holds it"
echo keep > kept
printf 'def f(:\n' > wrong.tile
check "a failed compile" 1 'wrong.tile:1:' wrong.tile --target sm_80 -o kept
[ "$(cat kept)" = keep ]; report $? "leaves the earlier output alone"
check "two results of one input are equal" 0 '' "$add" --target sm_90a --emit=ptx -o again.ptx
"$tilec" "$add" --target sm_90a --emit=ptx -o twice.ptx && cmp -s again.ptx twice.ptx
report $? "byte by byte"

# After an unexpected signal tilec writes a folder that reproduces it. The program waits for its
# input meanwhile.
mkfifo pipe
"$tilec" - --target sm_80 --emit=ast < pipe > stdout 2> stderr &
pid=$!
exec 3> pipe
sleep 0.3
kill -SEGV $pid
wait $pid 2> /dev/null
status=$?
exec 3>&-
log=stderr
if grep -q AddressSanitizer stderr; then
  skip "a crash leaves a folder" "the sanitizer handles signals"
else
  [ $status = 70 ]; report $? "a crash ends with status 70"
  grep -q 'internal error: segmentation fault \[E0990\]' stderr; report $? "with a message"
  grep -q -- "--emit=ast" tilec-crash-*/command.txt; report $? "and a folder that holds the command"
  grep -q 'tilec.*+0x' tilec-crash-*/trace.txt; report $? "and where it happened"
fi

# Imported files.
printf '@jit\ndef k(x: ptr[f32]):\n  store(x, f(load(x)))\nfrom large import f\n' > imports.tile
head -c $((16 * 1024 * 1024 + 1)) /dev/zero | tr '\0' '#' > large.py
check "imported file too large" 75 '`large.py`
\[E0901\]' imports.tile --target sm_80
printf '@jit\ndef f(x:\n  return x\n' > large.py
check "imported file with an error" 1 'large.py:2:6: error' imports.tile --target sm_80
printf '@jit\ndef f(x):\n  return -x\n' > large.py
check "imported file" 0 'xor.b32' imports.tile --target sm_80
stdin=imports.tile check "beside standard input" 0 'xor.b32' - --target sm_80
rm -f large.py
