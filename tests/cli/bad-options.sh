# SPDX-License-Identifier: Apache-2.0
# Usage errors: status 2, a place on the command line, a suggestion.
status 2 tilec
status 2 tilec --emti=ptx "$ADD"
has err '[E0701]'
has err 'did you mean `--emit`?'
status 2 tilec "$ADD" --emit=pxt
has err '[E0702]'
has err 'did you mean `ptx`?'
status 2 tilec "$ADD" --num-warps=3
has err '[E0702]'
status 2 tilec "$ADD" --kernel
has err '[E0702]'
status 2 tilec --run --bench "$ADD"
has err '[E0703]'
status 2 tilec --target sm_90a
has err '[E0703]'
status 2 tilec "$ADD" --target host --emit=ptx
has err '[E0703]'
status 2 tilec "$ADD" --target sm_90
has err '[E0704]'
has err 'did you mean `sm_90a`?'
status 2 tilec "$ADD" --signature x=q32
has err '[E0706]'
status 2 tilec "$ADD" -D BLOCK
has err '[E0707]'
status 2 tilec --explain E9999
has err '[E0708]'
