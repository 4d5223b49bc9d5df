# SPDX-License-Identifier: Apache-2.0
# No driver: status 69 and a remedy.
export TILE_LIBCUDA=/nonexistent/libcuda.so
status 69 tilec --run "$ADD" --target sm_90a --arg 'x=f32[8]:ones' --arg 'y=f32[8]:ones' --arg 'out=f32[8]:zeros' --arg n=8 --grid 1
has err '[E0810]'
has err '--target cpu'
status 0 tilec --run "$ADD" --arg 'x=f32[8]:ones' --arg 'y=f32[8]:ones' --arg 'out=f32[8]:zeros' --arg n=8 --grid 1
status 0 tilec --doctor
has out 'gpu'
