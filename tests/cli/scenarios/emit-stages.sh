# SPDX-License-Identifier: Apache-2.0
# Every stage of every target can be printed.
for t in sm_80 sm_86 sm_89 sm_90a sm_100a; do
  status 0 tilec "$ADD" --target $t --emit=ptx -o -
  has out ".target $t"
  has out 'ld.global.v4'
  has out 'st.global.v4'
done
for e in ast tile tilegpu llvm; do status 0 tilec "$ADD" --target sm_90a --emit=$e; done
status 0 tilec "$ADD" --target cpu --emit=llvm
status 0 tilec "$ADD" --target cpu --emit=object -o add.o
test -s add.o
status 0 tilec "$ADD" --target sm_90a --emit=ptx -o add.ptx
test -s add.ptx
status 0 tilec "$ADD" --target sm_90a --json
has out '"kernel"'
