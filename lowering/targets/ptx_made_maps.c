// SPDX-License-Identifier: Apache-2.0
// Tensor maps that a kernel makes (PTX ISA, "tensormap.replace", "membar/fence":
// fence.proxy.tensormap).
//
// A map is written in shared memory, where its fields that never change are written once, and
// copied to global memory, from where TMA reads it. That memory is a variable of the module, so
// that no launch has to provide it: for each multiprocessor as many slots as CTAs of the kernel fit
// there. A CTA takes a free slot of its multiprocessor and gives it back; launches in different
// streams share them. (If a multiprocessor had more CTAs than slots, some would wait for others to
// end.)
#include "lowering/targets/ptx.h"

#include <stdio.h>

enum {
  GLOBAL_SPACE = 1,
  SM_COUNT = 256,        // at least the multiprocessors of a GPU; a power of two
  SM_SHARED = 228 << 10, // bytes of shared memory of a multiprocessor (sm_90)
  CTA_SHARED = 1 << 10,  // that the system takes of it for each CTA
  SM_THREADS = 2048,
  MAX_SLOTS = 32
};

static LLVMTypeRef void_type(struct emitter *e) { return LLVMVoidTypeInContext(e->llvm); }

// CTAs of the kernel that a multiprocessor can hold.
static uint32_t slots_of(struct emitter *e) {
  uint32_t shared = e->shared_total < 0 ? 0 : (uint32_t)e->shared_total;
  uint32_t slots = SM_SHARED / (shared + CTA_SHARED);
  uint32_t by_threads = SM_THREADS / kernel_info_threads(e->info);
  slots = by_threads < slots ? by_threads : slots;
  return slots < 1 ? 1 : slots > MAX_SLOTS ? MAX_SLOTS : slots;
}

static uint32_t made_count(struct emitter *e) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < e->map_count; i++)
    n += e->map_shapes[i].made > 0;
  return n;
}

static LLVMValueRef variable(struct emitter *e, const char *what, LLVMTypeRef element,
                             uint32_t count, unsigned align) {
  const char *name = arena_printf(e->arena, "%s__%s", e->info->name, what);
  LLVMTypeRef type = LLVMArrayType2(element, count);
  LLVMValueRef v = LLVMAddGlobalInAddressSpace(e->module, type, name, GLOBAL_SPACE);
  LLVMSetInitializer(v, LLVMConstNull(type));
  LLVMSetLinkage(v, LLVMInternalLinkage);
  LLVMSetAlignment(v, align);
  return v;
}

// Tries the slots of the multiprocessor in turn; returns the number of the one taken.
static LLVMValueRef take_slot(struct emitter *e, LLVMValueRef locks, uint32_t slots) {
  const char *text = arena_printf(
      e->arena,
      "{\n.reg .pred p;\n.reg .b32 sm, n, old;\n.reg .b64 at;\n"
      "mov.u32 sm, %%smid;\nand.b32 sm, sm, %u;\nmul.lo.u32 sm, sm, %u;\nmov.u32 n, 0;\n"
      "$$take_${:uid}:\n"
      "add.u32 $0, sm, n;\nmul.wide.u32 at, $0, 4;\nadd.u64 at, at, $1;\n"
      "add.u32 n, n, 1;\nsetp.eq.u32 p, n, %u;\nselp.u32 n, 0, n, p;\n"
      "atom.acquire.gpu.global.cas.b32 old, [at], 0, 1;\n"
      "setp.ne.u32 p, old, 0;\n@p bra $$take_${:uid};\n}",
      SM_COUNT - 1u, slots, slots);
  LLVMValueRef call = ptx_memory_asm(e, text, "=&r,l", e->i32, &locks, 1);
  ptx_set_convergent(e, call);
  return call;
}

// ---- fields ----

// The numbers of tensormap.replace, which are not those of the driver (runtime/launch_maps.c).
static unsigned element_number(enum dtype t) {
  switch (t) {
  case DTYPE_I16:
  case DTYPE_U16: return 1;
  case DTYPE_U32: return 2;
  case DTYPE_I32: return 3;
  case DTYPE_U64: return 4;
  case DTYPE_I64: return 5;
  case DTYPE_F16: return 6;
  case DTYPE_F32: return 7;
  case DTYPE_F64: return 9;
  case DTYPE_BF16: return 10;
  default: return 0; // bytes
  }
}

static unsigned swizzle_number(uint32_t bytes) {
  return bytes == 128 ? 3 : bytes == 64 ? 2 : bytes == 32 ? 1 : 0;
}

static void put(struct strbuf *text, const char *field, int dim, const char *type,
                const char *value) {
  strbuf_printf(text, "tensormap.replace.tile.%s.shared::cta.b1024.%s [$0], ", field, type);
  if (dim >= 0)
    strbuf_printf(text, "%d, ", dim);
  strbuf_printf(text, "%s;\n", value);
}

static void put_number(struct strbuf *text, const char *field, int dim, unsigned value) {
  char digits[16];
  snprintf(digits, sizeof digits, "%u", value);
  put(text, field, dim, "b32", digits);
}

// What no launch changes. `at`: the address in shared memory.
static void write_shape(struct emitter *e, const struct kernel_map *m, LLVMValueRef at) {
  struct strbuf text = {.arena = e->arena};
  strbuf_puts(&text, "{\n.reg .b64 zero;\nmov.b64 zero, 0;\n");
  for (unsigned i = 0; i < KERNEL_MAP_BYTES; i += 16)
    strbuf_printf(&text, "st.shared.v2.b64 [$0+%u], {zero, zero};\n", i);
  put_number(&text, "rank", -1, m->rank - 1);
  for (uint32_t i = 0; i < m->rank; i++) { // PTX counts from the innermost dimension
    put_number(&text, "box_dim", (int)i, m->box[m->rank - 1 - i]);
    put_number(&text, "element_stride", (int)i, 1);
  }
  put_number(&text, "elemtype", -1, element_number(m->dtype));
  put_number(&text, "interleave_layout", -1, 0);
  put_number(&text, "swizzle_mode", -1, swizzle_number(m->swizzle));
  put_number(&text, "fill_mode", -1, m->pads_nan);
  strbuf_puts(&text, "}");
  ptx_memory_asm(e, strbuf_cstr(&text), "r", void_type(e), &at, 1);
  strbuf_finish(&text);
}

static LLVMValueRef words_of(struct emitter *e, uint32_t number, LLVMValueRef words) {
  uint32_t made = e->map_shapes[number].made;
  return LLVMBuildAdd(e->b, words, const_i32(e, (made - 1) * KERNEL_MAP_BYTES), "");
}

void ptx_maps_open(struct emitter *e, LLVMValueRef words) {
  uint32_t slots = slots_of(e), count = made_count(e), bytes = count * KERNEL_MAP_BYTES;
  LLVMValueRef locks = variable(e, "map_locks", e->i32, SM_COUNT * slots, 4);
  LLVMValueRef maps = variable(e, "maps", e->i8, SM_COUNT * slots * bytes, KERNEL_MAP_BYTES);
  e->made.locks = LLVMBuildPtrToInt(e->b, locks, e->i64, "");
  e->made.slot = take_slot(e, e->made.locks, slots);
  LLVMValueRef distance = LLVMBuildZExt(e->b, e->made.slot, e->i64, "");
  distance = LLVMBuildMul(e->b, distance, const_int(e->i64, bytes), "");
  LLVMValueRef first = LLVMBuildAdd(e->b, LLVMBuildPtrToInt(e->b, maps, e->i64, ""), distance, "");
  for (uint32_t i = 0; i < e->map_count; i++) {
    const struct kernel_map *m = &e->map_shapes[i];
    if (!m->made)
      continue;
    LLVMValueRef own = const_int(e->i64, (m->made - 1) * KERNEL_MAP_BYTES);
    e->maps[i] = LLVMBuildAdd(e->b, first, own, "");
    write_shape(e, m, words_of(e, i, words));
  }
}

// Copies the map from $0 to $1.
static void put_copy(struct strbuf *text) {
  strbuf_puts(text, "{\n.reg .b64 x, y;\n");
  for (unsigned i = 0; i < KERNEL_MAP_BYTES; i += 16)
    strbuf_printf(text, "ld.shared.v2.b64 {x, y}, [$0+%u];\nst.global.v2.b64 [$1+%u], {x, y};\n", i,
                  i);
  strbuf_puts(text, "}");
}

// Makes all maps that were written since the last time visible to TMA, by one release.
static void publish(struct emitter *e) {
  LLVMValueRef maps[KERNEL_MAX_MAPS];
  unsigned n = 0;
  struct strbuf text = {.arena = e->arena}, constraints = {.arena = e->arena};
  strbuf_puts(&text, "fence.proxy.tensormap::generic.release.gpu;");
  for (uint32_t i = 0; i < e->map_count; i++) {
    if (!(e->made.unpublished & 1u << i))
      continue;
    strbuf_printf(&text, "\nfence.proxy.tensormap::generic.acquire.gpu [$%u], 128;", n);
    strbuf_puts(&constraints, n ? ",l" : "l");
    maps[n++] = e->maps[i];
  }
  ptx_memory_asm(e, strbuf_cstr(&text), strbuf_cstr(&constraints), void_type(e), maps, n);
  strbuf_finish(&text);
  strbuf_finish(&constraints);
  e->made.unpublished = 0;
}

void ptx_map_make(struct emitter *e, const struct made_map *m) {
  uint32_t rank = e->map_shapes[m->number].rank;
  struct strbuf text = {.arena = e->arena}, constraints = {.arena = e->arena};
  LLVMValueRef args[3 + 2 * KERNEL_MAP_RANK] = {words_of(e, m->number, m->words),
                                                e->maps[m->number], m->base};
  unsigned n = 3;
  strbuf_puts(&constraints, "r,l,l");
  put(&text, "global_address", -1, "b64", "$2");
  for (uint32_t i = 0; i < rank; i++) {
    args[n] = LLVMBuildTrunc(e->b, m->sizes[rank - 1 - i], e->i32, "");
    put(&text, "global_dim", (int)i, "b32", arena_printf(e->arena, "$%u", n++));
    strbuf_puts(&constraints, ",r");
  }
  for (uint32_t i = 0; i + 1 < rank; i++) {
    args[n] = m->strides[rank - 2 - i];
    put(&text, "global_stride", (int)i, "b64", arena_printf(e->arena, "$%u", n++));
    strbuf_puts(&constraints, ",l");
  }
  put_copy(&text);
  ptx_memory_asm(e, strbuf_cstr(&text), strbuf_cstr(&constraints), void_type(e), args, n);
  strbuf_finish(&text);
  strbuf_finish(&constraints);
  e->made.unpublished |= 1u << m->number;
  if (!m->joins)
    publish(e);
}

void ptx_maps_close(struct emitter *e) {
  LLVMValueRef distance = LLVMBuildZExt(e->b, e->made.slot, e->i64, "");
  LLVMValueRef bytes = LLVMBuildMul(e->b, distance, const_int(e->i64, 4), "");
  LLVMValueRef args[] = {LLVMBuildAdd(e->b, e->made.locks, bytes, "")};
  ptx_memory_asm(e, "{\n.reg .b32 old;\natom.release.gpu.global.exch.b32 old, [$0], 0;\n}", "l",
                 void_type(e), args, 1);
}
