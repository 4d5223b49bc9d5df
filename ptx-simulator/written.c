// SPDX-License-Identifier: Apache-2.0
// Which bytes of a buffer of global memory were written: one bit per byte.
#include "ptx-simulator/sim_machine.h"

static bool is_written(const struct sim_buffer *b, size_t at) {
  return !b->written || (b->written[at >> 3] >> (at & 7) & 1);
}

void sim_mark_written(const struct sim_buffer *b, size_t at, size_t size) {
  size_t end = at + size;
  if (!b->written)
    return;
  for (; at < end && ((at & 7) || end - at < 8); at++)
    b->written[at >> 3] |= (uint8_t)(1u << (at & 7));
  memset(b->written + (at >> 3), 0xff, (end - at) >> 3);
  for (at += (end - at) & ~(size_t)7; at < end; at++)
    b->written[at >> 3] |= (uint8_t)(1u << (at & 7));
}

void sim_copy_written(const struct sim_buffer *b, size_t at, const struct sim_buffer *other,
                      size_t from, size_t size) {
  if (!b->written)
    return;
  bool forward = at <= from; // like memmove, if both are one buffer
  for (size_t k = 0; k < size; k++) {
    size_t i = forward ? k : size - 1 - k;
    uint8_t bit = (uint8_t)(1u << ((at + i) & 7)), *byte = &b->written[(at + i) >> 3];
    *byte = is_written(other, from + i) ? *byte | bit : *byte & (uint8_t)~bit;
  }
}

static void record(struct warp *w, const struct op *op, unsigned lane, uint64_t address) {
  uint64_t **of_op = &w->unwritten[op - w->program->code.at];
  if (!*of_op)
    *of_op = arena_array(w->run->arena, uint64_t, SIM_LANES);
  (*of_op)[lane] = address;
}

uint32_t unwritten_bytes(struct warp *w, const struct op *op, unsigned lane,
                         const struct location *at, unsigned bytes) {
  const struct sim_buffer *b = at->buffer;
  uint32_t unwritten = 0;
  if (at->space != SIM_GLOBAL || !b->written)
    return 0;
  for (unsigned i = 0; i < bytes; i++)
    unwritten |= (uint32_t)!is_written(b, at->offset - b->address + i) << i;
  if (unwritten)
    record(w, op, lane, at->offset + (unsigned)__builtin_ctz(unwritten));
  return unwritten;
}

uint64_t unwritten_address(const struct warp *w, const struct op *op, unsigned lane) {
  const uint64_t *addresses = w->unwritten[op - w->program->code.at];
  if (!addresses || addresses[lane])
    return addresses ? addresses[lane] : 0;
  for (unsigned i = 0; i < SIM_LANES; i++)
    if (addresses[i])
      return addresses[i];
  return 0;
}
