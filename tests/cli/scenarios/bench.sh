# SPDX-License-Identifier: Apache-2.0
# --bench works on the CPU too.
status 0 tilec --bench "$ADD" --target cpu --arg 'x=f32[4096]:rand(0)' --arg 'y=f32[4096]:rand(1)' --arg 'out=f32[4096]:zeros' --arg n=4096 --grid 'cdiv(n,BLOCK)' --repeats 3
has out 'GB/s'
has out 'device copy'
status 0 tilec --bench "$ADD" --target cpu --arg 'x=f32[4096]:rand(0)' --arg 'y=f32[4096]:rand(1)' --arg 'out=f32[4096]:zeros' --arg n=4096 --grid 'cdiv(n,BLOCK)' --repeats 3 --json
has out '"ms_p20"'
