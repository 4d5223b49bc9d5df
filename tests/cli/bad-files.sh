# SPDX-License-Identifier: Apache-2.0
# Files that are missing, unreadable or malformed.
status 1 tilec nowhere.tile --emit=ast
has err '[E0710]'
mkdir folder
status 74 tilec folder --emit=ast
has err '[E0710]'
status 73 tilec "$ADD" --target sm_80 --emit=ptx -o nowhere/add.ptx
has err '[E0711]'
printf 'not an array' > a.npy
run=(tilec --run "$ADD" --target host --arg 'y=f32[8]:ones' --arg 'out=f32[8]:zeros' --arg n=8 --grid 1)
status 1 "${run[@]}" --arg x=@a.npy
has err '[E0712]'
status 1 "${run[@]}" --arg x=@missing.npy
has err '[E0710]'
printf '\x93NUMPY\x01\x00\x46\x00%-69s\n' "{'descr': '<c8', 'fortran_order': False, 'shape': (8,), }" > c.npy
status 1 "${run[@]}" --arg x=@c.npy
has err '[E0713]'
printf '\x93NUMPY\x01\x00\x46\x00%-69s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (8,), }" > short.npy
status 1 "${run[@]}" --arg x=@short.npy
has err 'has fewer elements than its shape says'
dd if=/dev/zero of=big.tile bs=1M count=17 2> /dev/null
status 75 tilec big.tile --emit=ast
has err '[E0901]'
