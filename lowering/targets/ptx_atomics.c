// SPDX-License-Identifier: Apache-2.0
// Atomic operations of global memory on NVIDIA GPUs, with every order and scope. Where the old
// value is unused and the order allows it they are reductions (`red`), which return nothing. f16
// and bf16 go in pairs; from sm_90 on, sums of floats as vectors.
#include "lowering/targets/ptx.h"

enum { MAX_WORDS = 4 };

// ---- forms ----

// The operation and its type on one element, as PTX spells them; NULL where there is none.
static const char *scalar_form(const struct atomic *a, unsigned sm) {
  static const struct {
    const char *kind, *form32, *form64;
  } forms[] = {{"add", "add.u32", "add.u64"},   {"and", "and.b32", "and.b64"},
               {"or", "or.b32", "or.b64"},      {"xor", "xor.b32", "xor.b64"},
               {"max", "max.s32", "max.s64"},   {"min", "min.s32", "min.s64"},
               {"umax", "max.u32", "max.u64"},  {"umin", "min.u32", "min.u64"},
               {"xchg", "exch.b32", "exch.b64"}};
  enum dtype t = a->dtype;
  if (str_is(a->kind, "fadd"))
    return t == DTYPE_F32                ? "add.f32"
           : t == DTYPE_F64              ? "add.f64"
           : t == DTYPE_F16              ? "add.noftz.f16"
           : t == DTYPE_BF16 && sm >= 90 ? "add.noftz.bf16"
                                         : NULL;
  unsigned bits = t == DTYPE_NONE ? 64 : dtype_bits(t);
  bool any_type = str_is(a->kind, "xchg");
  if ((bits != 32 && bits != 64) || (!any_type && t != DTYPE_NONE && dtype_is_float(t)))
    return NULL;
  for (size_t i = 0; i < COUNT_OF(forms); i++)
    if (str_is(a->kind, forms[i].kind))
      return bits == 32 ? forms[i].form32 : forms[i].form64;
  return NULL;
}

static bool is_extremum(const struct atomic *a) {
  return str_is(a->kind, "fmax") || str_is(a->kind, "fmin");
}

// bf16 sums before sm_90, extremes of f16 and bf16: a loop of compare-and-swap.
static bool needs_loop(const struct atomic *a, unsigned sm) {
  bool is_half = a->dtype == DTYPE_F16 || a->dtype == DTYPE_BF16;
  return (str_is(a->kind, "fadd") && a->dtype == DTYPE_BF16 && sm < 90) ||
         (is_extremum(a) && is_half);
}

unsigned ptx_atomic_width(struct emitter *e, const struct atomic *a) {
  unsigned sm = e->target->sm, widest = 1;
  if (needs_loop(a, sm))
    return 1;
  if (!scalar_form(a, sm))
    return 0;
  if (str_is(a->kind, "fadd") && a->dtype == DTYPE_F32)
    widest = sm >= 90 ? 4 : 1;
  if (str_is(a->kind, "fadd") && (a->dtype == DTYPE_F16 || a->dtype == DTYPE_BF16))
    widest = sm >= 90 ? 8 : 2;
  return a->width < widest ? a->width : widest;
}

static const char *form_of(struct emitter *e, const struct atomic *a) {
  static const char *const vectors[] = {"", "", ".v2", "", ".v4"};
  if (a->width == 1)
    return scalar_form(a, e->target->sm);
  bool narrow = a->dtype != DTYPE_F32;
  return arena_printf(e->arena, "add%s%s.%s", narrow ? ".noftz" : "", vectors[a->access.count],
                      !narrow                 ? "f32"
                      : a->dtype == DTYPE_F16 ? "f16x2"
                                              : "bf16x2");
}

// ".acq_rel.gpu.global"
static const char *order_of(struct emitter *e, MlirOperation op) {
  struct str sem = op_attr_str(op, "sem"), scope = op_attr_str(op, "scope");
  return arena_printf(e->arena, ".%.*s.%.*s.global", sem.len ? (int)sem.len : 7,
                      sem.len ? sem.ptr : "acq_rel", scope.len ? (int)scope.len : 3,
                      scope.len ? scope.ptr : "gpu");
}

// ---- by loop ----

// new = op($0, $2); sums of bf16 as fma before sm_90.
static const char *step_of(struct emitter *e, const struct atomic *a) {
  const char *type = a->dtype == DTYPE_F16 ? "f16" : "bf16";
  if (is_extremum(a))
    return arena_printf(e->arena, "%s.%s new, $0, $2;", str_is(a->kind, "fmax") ? "max" : "min",
                        type);
  return "mov.b16 new, 0x3f80;\nfma.rn.bf16 new, $0, new, $2;";
}

// Compare-and-swap until nothing came between, on 16 bits; zero where the predicate is false.
static LLVMValueRef atomic_by_loop(struct emitter *e, const struct atomic *a, LLVMValueRef value) {
  struct str scope = op_attr_str(a->access.op, "scope");
  LLVMTypeRef type = LLVMTypeOf(value);
  LLVMValueRef args[3] = {a->access.ptr, to_bits(e, value), a->access.pred};
  const char *text = arena_printf(
      e->arena,
      "{\n.reg .pred again;\n.reg .b16 new, seen;\nmov.b16 $0, 0;\n%s"
      "ld.relaxed.%.*s.global.b16 $0, [$1];\n"
      "$$again_${:uid}:\n%s\n"
      "atom%s.cas.b16 seen, [$1], $0, new;\n"
      "setp.ne.b16 again, seen, $0;\nmov.b16 $0, seen;\n@again bra $$again_${:uid};\n"
      "$$done_${:uid}:\n}",
      a->access.pred ? "@!$3 bra $$done_${:uid};\n" : "", scope.len ? (int)scope.len : 3,
      scope.len ? scope.ptr : "gpu", step_of(e, a), order_of(e, a->access.op));
  bool has_pred = a->access.pred != NULL;
  LLVMValueRef call =
      ptx_memory_asm(e, text, has_pred ? "=&h,l,h,b" : "=&h,l,h", e->i16, args, has_pred ? 3 : 2);
  ptx_set_convergent(e, call);
  return from_bits(e, call, type);
}

// ---- by instruction ----

static const char *finish(struct emitter *e, struct strbuf *b) {
  const char *s = arena_strdup(e->arena, strbuf_cstr(b));
  strbuf_finish(b);
  return s;
}

static void put_registers(struct strbuf *b, unsigned first, unsigned count) {
  strbuf_puts(b, count > 1 ? "{" : "");
  for (unsigned i = 0; i < count; i++)
    strbuf_printf(b, "%s$%u", i ? ", " : "", first + i);
  strbuf_puts(b, count > 1 ? "}" : "");
}

// `red`: the address, the words, the predicate.
static void reduction(struct emitter *e, const struct atomic *a, const LLVMValueRef *words) {
  unsigned n = a->access.count, arg_count = 0;
  struct strbuf text = {.arena = e->arena}, constraints = {.arena = e->arena};
  LLVMValueRef args[MAX_WORDS + 2];
  args[arg_count++] = a->access.ptr;
  strbuf_puts(&constraints, "l");
  for (unsigned i = 0; i < n; i++) {
    args[arg_count++] = words[i];
    strbuf_printf(&constraints, ",%s", ptx_constraint_of(a->access.word_bits));
  }
  if (a->access.pred) {
    strbuf_printf(&text, "@$%u ", arg_count);
    strbuf_puts(&constraints, ",b");
    args[arg_count++] = a->access.pred;
  }
  strbuf_printf(&text, "red%s.%s [$0], ", order_of(e, a->access.op), form_of(e, a));
  put_registers(&text, 1, n);
  strbuf_puts(&text, ";");
  ptx_memory_asm(e, finish(e, &text), finish(e, &constraints), LLVMVoidTypeInContext(e->llvm), args,
                 arg_count);
}

// `atom`: under a predicate, the old words are zero beforehand.
static void fetch_and_op(struct emitter *e, const struct atomic *a, const LLVMValueRef *words,
                         LLVMValueRef *ret) {
  unsigned n = a->access.count, arg_count = 0;
  LLVMValueRef pred = a->access.pred, args[2 * MAX_WORDS + 2];
  LLVMTypeRef word = LLVMIntTypeInContext(e->llvm, a->access.word_bits), all[MAX_WORDS];
  const char *c = ptx_constraint_of(a->access.word_bits);
  struct strbuf text = {.arena = e->arena}, constraints = {.arena = e->arena};
  for (unsigned i = 0; i < n; i++) {
    strbuf_printf(&constraints, "%s=%s%s", i ? "," : "", pred ? "&" : "", c);
    all[i] = word;
  }
  for (unsigned i = 0; pred && i < n; i++) {
    strbuf_printf(&constraints, ",%u", i);
    args[arg_count++] = LLVMConstInt(word, 0, false);
  }
  unsigned at = n + arg_count; // number of the address among the operands
  args[arg_count++] = a->access.ptr;
  strbuf_puts(&constraints, ",l");
  for (unsigned i = 0; i < n; i++) {
    args[arg_count++] = words[i];
    strbuf_printf(&constraints, ",%s", c);
  }
  if (pred) {
    strbuf_printf(&text, "@$%u ", n + arg_count);
    strbuf_puts(&constraints, ",b");
    args[arg_count++] = pred;
  }
  strbuf_printf(&text, "atom%s.%s ", order_of(e, a->access.op), form_of(e, a));
  put_registers(&text, 0, n);
  strbuf_printf(&text, ", [$%u], ", at);
  put_registers(&text, at + 1, n);
  strbuf_puts(&text, ";");
  LLVMTypeRef type = n == 1 ? word : LLVMStructTypeInContext(e->llvm, all, n, false);
  LLVMValueRef old =
      ptx_memory_asm(e, finish(e, &text), finish(e, &constraints), type, args, arg_count);
  for (unsigned i = 0; i < n; i++)
    ret[i] = n == 1 ? old : LLVMBuildExtractValue(e->b, old, i, "");
}

// `red` has at most release semantics.
static bool is_reduction(const struct atomic *a) {
  struct str sem = op_attr_str(a->access.op, "sem");
  return a->unused && !str_is(a->kind, "xchg") &&
         (str_is(sem, "relaxed") || str_is(sem, "release"));
}

void ptx_atomic_rmw(struct emitter *e, const struct atomic *a, const LLVMValueRef *values,
                    LLVMValueRef *ret) {
  if (needs_loop(a, e->target->sm)) {
    ret[0] = atomic_by_loop(e, a, values[0]);
    return;
  }
  struct packing p = packing_of(e, a->element, a->width);
  LLVMValueRef words[MAX_WORDS], old[MAX_WORDS];
  pack_elements(e, &p, values, words);
  if (is_reduction(a)) {
    reduction(e, a, words);
    return;
  }
  fetch_and_op(e, a, words, old);
  unpack_elements(e, &p, old, ret);
}

LLVMValueRef ptx_atomic_cas(struct emitter *e, const struct access *a, LLVMValueRef compare,
                            LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  const char *c = ptx_constraint_of(a->word_bits);
  if (!a->pred) {
    const char *text = arena_printf(e->arena, "atom%s.cas.b%u $0, [$1], $2, $3;",
                                    order_of(e, a->op), a->word_bits);
    LLVMValueRef args[] = {a->ptr, compare, value};
    return ptx_memory_asm(e, text, arena_printf(e->arena, "=%s,l,%s,%s", c, c, c), type, args, 3);
  }
  const char *text = arena_printf(e->arena, "@$5 atom%s.cas.b%u $0, [$2], $3, $4;",
                                  order_of(e, a->op), a->word_bits);
  LLVMValueRef args[] = {LLVMConstInt(type, 0, false), a->ptr, compare, value, a->pred};
  return ptx_memory_asm(e, text, arena_printf(e->arena, "=&%s,0,l,%s,%s,b", c, c, c), type, args,
                        5);
}
