# SPDX-License-Identifier: Apache-2.0
# Inline assembly: LLVM aborts the process on malformed text, so tilec must reject it first.

assembly() { # assembly TEXT CONSTRAINTS: writes asm.tile
  local text=${1//\\/\\\\}
  printf '@jit\ndef k(x: ptr[i32]):\n  i = arange(0, 64)\n  store(x + i, inline_asm_elementwise("""%s """, "%s", [load(x + i)], int32, %s, 1))\n' \
    "$text" "$2" "${3:-True}" > asm.tile
}
refused() { # refused TEXT PATTERN
  assembly "$1" "=r,r"
  check "refused: $(printf %s "$1" | tr "\n" " ")" 1 "$2
E0609" asm.tile --target sm_80 --emit=ptx
}
unknown() { # unknown CONSTRAINTS
  assembly 'mov.b32 $0, 1;' "$1"
  check "constraints: $1" 1 'E0604' asm.tile --target sm_80 --emit=ptx
}
taken() { # taken TEXT CONSTRAINTS PATTERN
  assembly "$1" "$2"
  check "taken: $1 $2" 0 "$3" asm.tile --target sm_80 --emit=ptx
}

refused 'mov.b32 $0, $2;' 'no operand `\$2`: the constraints name 2'
refused 'mov.b32 $0, $4294967296;' 'no operand'
refused 'mov.b32 $0, $99999999999999999999;' 'no operand'
refused 'mov.b32 $0, $' '`\$\$` is a dollar sign'
refused 'mov.b32 $$0, $x;' '`\$\$` is a dollar sign'
refused 'mov.b32 ${0, $1;' 'has no `}`'
refused 'mov.b32 ${}, $1;' '`\$\$` is a dollar sign'
refused 'mov.b32 ${' '`\$\$` is a dollar sign'
refused 'mov.b32 ${0:z}, $1;' 'the only modifier'
refused 'mov.b32 ${0:rr}, $1;' 'has no `}`'
refused 'mov.b32 ${0:' 'the only modifier'
refused 'mov.b32 ${:name}, $1;' '`uid}`, `comment}` or `private}`'
refused '$(mov$(b$) ' 'within another'
refused '$(mov.b32 $0, $1;' '`\$\(` has no'
refused 'mov.b32 $0, $1; $|' 'no `\$\(` before'
refused 'mov.b32 $0, $1; $)' 'no `\$\(` before'
refused '{ .reg .b32 t; mov.b32 $0, $1;' 'a `{` has no'
refused 'mov.b32 $0, $1; } {' 'a `}` has no'
refused 'mov.b32 $0, $1; /* open' 'a comment has no'
refused '.file 1 "open' 'a string has no'
refused '// see $7
mov.b32 $0, $1;' 'no operand `\$7`'
printf '@jit\ndef k(x: ptr[i32]):\n  store(x, inline_asm_elementwise("mov.b32 $0, $1;\\0 $9", "=r,r", [load(x)], int32, True, 1))\n' > nul.tile
check "refused: a NUL" 1 'E0503' nul.tile --target sm_80 --emit=ptx

for c in '=r' 'r,=r' '=r,r,r' '=r,1' '=r,0,0' '=r,-1' '=r,r,~{' '=r,r,~{}' '=r,r,~memory' '=r,~{cc},r' '=r,r,~{a,b}' '=x,r' '=r,i' \
  '=r,*m' '=r|r,r' '={r1},r' '=r,{r1}' '=r,rf' '=r,r,!0' '=r,+r' '=l,l,l' '' ','; do
  unknown "$c"
done

taken '{ .reg .b32 t; mov.b32 t, $1; mov.b32 ${0}, t; } // end }' '=r,r' 'mov.b32 t, %r'
taken 'mov.b32 ${0:r}, ${1:r};' '=&r,0' 'mov.b32'
taken '$(mov.b32$|}$) $0, $1; /* } */' '=r,r,~{memory},~{cc}' 'mov.b32'
taken 'mov.b32 $0, $1; // ${:uid} $$' '=r,r' 'mov.b32'

# The same for IR text.
assembly 'mov.b32 $0, $1;' '=r,r'
"$tilec" asm.tile --emit=tile | sed 's/mov.b32 $0, $1;/mov.b32 $0, $5;/' > asm.mlir
sed 's/mov.b32 $0, $5;/\\00/' asm.mlir > nul.mlir
check "refused in IR" 1 'asm.mlir:[0-9]+:.*E0609' asm.mlir --target sm_80 --emit=ptx
check "refused in IR: a NUL" 1 'E0609' nul.mlir --target sm_80 --emit=ptx

# Names of C, of PTX and of the compiler's own routines.
for name in printf main memcpy __assertfail entry größe; do
  printf 'import triton.language as tl\n@jit\ndef %s(x: ptr[f32]):\n  i = arange(0, 64)\n  device_print("100%%%% %%s", i)\n  device_assert(i < 64, "%%n%%d")\n  store(x + i, tl.exp(load(x + i)))\n' \
    "$name" > name.tile
  check "a kernel named $name" 0 '\.entry' name.tile --target sm_80 --emit=ptx
  check "a kernel named $name on the cpu" 0 'min 1  max 1' --run name.tile --target cpu --arg 'x=f32[64]:zeros' --grid 1
done
for target in sm_999 sm_ host90 '' sm_90aa; do
  check "target '$target'" 2 'E0704' name.tile --target "$target" --emit=ptx
done
