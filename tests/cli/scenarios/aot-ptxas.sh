# SPDX-License-Identifier: Apache-2.0
# The assembler: its search path, its messages, and that no temporary files remain.
mkdir -p tmp bin cuda/bin
export TMPDIR=$PWD/tmp
cat > bin/ptxas << 'SH'
#!/bin/bash
# A fake ptxas: prints the message of FAKE and copies its input.
for word; do last=$word; [ "$previous" = -o ] && out=$word; previous=$word; done
echo "$0" > "$LOG"
ls -l "$last" "$out" "$(dirname "$last")" >> "$LOG"
stat -c '%a' "$last" "$out" "$(dirname "$last")" >> "$LOG"
number=$(grep -n 'ld.global' "$last" | head -1 | cut -d: -f1)
case $FAKE in
  error) echo "ptxas $last, line $number; error   : Unknown modifier '.v5'" >&2
         echo "ptxas fatal   : Ptx assembly aborted due to errors" >&2; exit 255 ;;
  warning) echo "ptxas $last, line $number; warning : Potential Performance Loss" >&2 ;;
  serialised) echo "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized" >&2 ;;
  dies) kill -9 $$ ;;
  silent) exit 3 ;;
esac
echo "ptxas info    : Used 77 registers, used 1 barriers" >&2
echo "    8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads" >&2
cp "$last" "$out"
SH
chmod +x bin/ptxas
export LOG=$PWD/log
cp bin/ptxas cuda/bin/ptxas
unset TILE_PTXAS CUDA_HOME

status 0 tilec "$ADD" --emit=cubin --target sm_90a --ptxas bin/ptxas --json -o k.cubin
has out '"registers": 77, "stack_bytes": 8, "spill_stores": 12, "spill_loads": 16'
has k.cubin '.target sm_90a'
test "$(tail -3 log | tr '\n' ' ')" = "600 600 700 " || { cat log; exit 1; }
TILE_PTXAS=$PWD/bin/ptxas status 0 tilec "$ADD" --emit=cubin --target sm_80 -o k.cubin
has log "$PWD/bin/ptxas"
CUDA_HOME=$PWD/cuda status 0 tilec "$ADD" --emit=cubin --target sm_80 -o k.cubin
has log "$PWD/cuda/bin/ptxas"
PATH=$PWD/bin:$PATH status 0 tilec "$ADD" --emit=cubin --target sm_80 -o k.cubin
has log "$PWD/bin/ptxas"
TILE_PTXAS=/nowhere/ptxas status 2 tilec "$ADD" --emit=cubin --target sm_80
has err 'which TILE_PTXAS names'

# Its messages are reported at the kernel's line; a failure keeps an earlier result.
cp k.cubin before
FAKE=error status 1 tilec "$ADD" --emit=cubin --target sm_90a --ptxas bin/ptxas -o k.cubin
has err "add.tile:10:9: error: ptxas refuses \`add\`: Unknown modifier '.v5' [E0751]"
has err 'a = load(x + i, mask=mask)'
has err 'of the PTX is'
lacks err 'aborted due to errors'
cmp k.cubin before
FAKE=warning status 0 tilec "$ADD" --emit=cubin --target sm_90a --ptxas bin/ptxas -o k.cubin
has err 'warning: ptxas on `add`: Potential Performance Loss [E0752]'
FAKE=serialised status 0 tilec "$ADD" --emit=cubin --target sm_90a --ptxas bin/ptxas -o k.cubin
has err 'warning: ptxas on `add`: (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized [E0752]'
has err 'smaller blocks or more warps'
FAKE=dies status 1 tilec "$ADD" --emit=cubin --target sm_90a --ptxas bin/ptxas -o k.cubin
has err 'with signal 9'
FAKE=silent status 1 tilec "$ADD" --emit=cubin --target sm_90a --ptxas bin/ptxas -o k.cubin
has err 'with exit status 3'
TMPDIR=/nowhere status 1 tilec "$ADD" --emit=cubin --target sm_90a --ptxas bin/ptxas -o k.cubin
has err 'no temporary files'
test -z "$(ls -A tmp)" || { ls -R tmp; exit 1; }
