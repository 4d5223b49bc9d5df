// SPDX-License-Identifier: Apache-2.0
// Global memory on NVIDIA GPUs: predicated vector loads and stores, atomics. Accesses without
// predicate and cache hints are plain LLVM ones, which fold address arithmetic; the rest is inline
// PTX.
#include "lowering/targets/ptx.h"

// One instruction that touches memory: never removed, and kept in order with other accesses.
static LLVMValueRef memory_asm(struct emitter *e, const char *text, const char *constraints,
                               LLVMTypeRef result, LLVMValueRef *args, unsigned n) {
  LLVMTypeRef *types = arena_array(e->arena, LLVMTypeRef, n + 1);
  for (unsigned i = 0; i < n; i++)
    types[i] = LLVMTypeOf(args[i]);
  LLVMTypeRef type = LLVMFunctionType(result, types, n, false);
  const char *all = arena_printf(e->arena, "%s,~{memory}", constraints);
  LLVMValueRef fn = LLVMGetInlineAsm(type, text, strlen(text), all, strlen(all), true, false,
                                     LLVMInlineAsmDialectATT, false);
  return LLVMBuildCall2(e->b, type, fn, args, n, "");
}

// ---- loads and stores ----

static const char *constraint_of(unsigned bits) {
  return bits == 64 ? "l" : bits == 32 ? "r" : "h";
}

// 8-bit words travel in 16-bit registers.
static LLVMTypeRef register_type(struct emitter *e, unsigned bits) {
  return LLVMIntTypeInContext(e->llvm, bits < 16 ? 16 : bits);
}

// Cache operator or eviction priority, as PTX spells it. PTX takes one of the two.
static const char *cache_suffix(struct emitter *e, MlirOperation op) {
  struct str cache = op_attr_str(op, "cache"), evict = op_attr_str(op, "evict");
  if (cache.len)
    return arena_printf(e->arena, "%s%.*s", cache.ptr[0] == '.' ? "" : ".", STR_ARG(cache));
  return evict.len ? arena_printf(e->arena, ".L1::%.*s", STR_ARG(evict)) : "";
}

// "$first" or "{$first, ..., $last}"
static void put_operands(struct strbuf *b, unsigned first, unsigned count) {
  strbuf_puts(b, count > 1 ? "{" : "");
  for (unsigned i = 0; i < count; i++)
    strbuf_printf(b, "%s$%u", i ? ", " : "", first + i);
  strbuf_puts(b, count > 1 ? "}" : "");
}

static const char *arena_text(struct emitter *e, struct strbuf *b) {
  const char *s = arena_strdup(e->arena, strbuf_cstr(b));
  strbuf_finish(b);
  return s;
}

static const char *vector_suffix(unsigned count) {
  return count == 1 ? "" : count == 2 ? ".v2" : count == 4 ? ".v4" : ".v8";
}

static void plain_load(struct emitter *e, const struct access *a, LLVMValueRef *ret) {
  LLVMValueRef v = LLVMBuildLoad2(e->b, words_type(e, a->count, a->word_bits), a->ptr, "");
  LLVMSetAlignment(v, a->align);
  split_words(e, a->count, v, ret);
}

// The destination registers hold `other` beforehand (operands tied to the results).
static void asm_load(struct emitter *e, const struct access *a, const char *suffix,
                     const LLVMValueRef *other, LLVMValueRef *ret) {
  unsigned n = a->count, arg_count = 0;
  LLVMTypeRef reg = register_type(e, a->word_bits),
              word = LLVMIntTypeInContext(e->llvm, a->word_bits);
  struct strbuf text = {0}, constraints = {0};
  LLVMValueRef args[16];
  for (unsigned i = 0; i < n; i++)
    strbuf_printf(&constraints, "%s=%s", i ? "," : "", constraint_of(a->word_bits));
  if (a->pred) {
    strbuf_printf(&text, "@$%u ", 2 * n + 1);
    for (unsigned i = 0; i < n; i++) {
      strbuf_printf(&constraints, ",%u", i);
      args[arg_count++] =
          other ? LLVMBuildZExt(e->b, other[i], reg, "") : LLVMConstInt(reg, 0, false);
    }
  }
  args[arg_count++] = a->ptr;
  strbuf_puts(&constraints, ",l");
  if (a->pred) {
    args[arg_count++] = a->pred;
    strbuf_puts(&constraints, ",b");
  }
  strbuf_printf(&text, "ld%s.global%s%s.b%u ",
                op_attr_bool(a->op, "is_volatile") ? ".volatile" : "",
                op_attr_bool(a->op, "is_volatile") ? "" : suffix, vector_suffix(n), a->word_bits);
  put_operands(&text, 0, n);
  strbuf_printf(&text, ", [$%u];", a->pred ? 2 * n : n);
  LLVMTypeRef members[8];
  for (unsigned i = 0; i < n; i++)
    members[i] = reg;
  LLVMTypeRef result = n == 1 ? reg : LLVMStructTypeInContext(e->llvm, members, n, false);
  LLVMValueRef v =
      memory_asm(e, arena_text(e, &text), arena_text(e, &constraints), result, args, arg_count);
  for (unsigned i = 0; i < n; i++) {
    LLVMValueRef x = n == 1 ? v : LLVMBuildExtractValue(e->b, v, i, "");
    ret[i] = LLVMBuildTrunc(e->b, x, word, "");
  }
}

void ptx_load(struct emitter *e, const struct access *a, const LLVMValueRef *other,
              LLVMValueRef *ret) {
  const char *suffix = cache_suffix(e, a->op);
  if (!a->pred && !*suffix && !op_attr_bool(a->op, "is_volatile"))
    plain_load(e, a, ret);
  else
    asm_load(e, a, suffix, other, ret);
}

static void plain_store(struct emitter *e, const struct access *a, const LLVMValueRef *words) {
  LLVMSetAlignment(LLVMBuildStore(e->b, join_words(e, a->count, words), a->ptr), a->align);
}

static void asm_store(struct emitter *e, const struct access *a, const char *suffix,
                      const LLVMValueRef *words) {
  LLVMTypeRef reg = register_type(e, a->word_bits);
  struct strbuf text = {0}, constraints = {0};
  LLVMValueRef args[16] = {a->ptr};
  unsigned arg_count = 1;
  strbuf_puts(&constraints, "l");
  for (unsigned i = 0; i < a->count; i++) {
    args[arg_count++] = LLVMBuildZExt(e->b, words[i], reg, "");
    strbuf_printf(&constraints, ",%s", constraint_of(a->word_bits));
  }
  if (a->pred) {
    strbuf_printf(&text, "@$%u ", arg_count);
    args[arg_count++] = a->pred;
    strbuf_puts(&constraints, ",b");
  }
  strbuf_printf(&text, "st.global%s%s.b%u [$0], ", suffix, vector_suffix(a->count), a->word_bits);
  put_operands(&text, 1, a->count);
  strbuf_putc(&text, ';');
  memory_asm(e, arena_text(e, &text), arena_text(e, &constraints), LLVMVoidTypeInContext(e->llvm),
             args, arg_count);
}

void ptx_store(struct emitter *e, const struct access *a, const LLVMValueRef *words) {
  const char *suffix = cache_suffix(e, a->op);
  if (!a->pred && !*suffix)
    plain_store(e, a, words);
  else
    asm_store(e, a, suffix, words);
}

// ---- atomics ----

// The operation and its type as PTX spells them; NULL where there is no such instruction.
static const char *atomic_form(struct emitter *e, struct str kind, enum dtype t) {
  static const struct {
    const char *kind, *form32, *form64;
  } forms[] = {{"add", "add.u32", "add.u64"},   {"and", "and.b32", "and.b64"},
               {"or", "or.b32", "or.b64"},      {"xor", "xor.b32", "xor.b64"},
               {"max", "max.s32", "max.s64"},   {"min", "min.s32", "min.s64"},
               {"umax", "max.u32", "max.u64"},  {"umin", "min.u32", "min.u64"},
               {"xchg", "exch.b32", "exch.b64"}};
  if (str_is(kind, "fadd"))
    return t == DTYPE_F32                           ? "add.f32"
           : t == DTYPE_F64                         ? "add.f64"
           : t == DTYPE_F16                         ? "add.noftz.f16"
           : t == DTYPE_BF16 && e->target->sm >= 90 ? "add.noftz.bf16"
                                                    : NULL;
  unsigned bits = t == DTYPE_NONE ? 64 : dtype_bits(t);
  bool any_type = str_is(kind, "xchg");
  if ((bits != 32 && bits != 64) || (!any_type && t != DTYPE_NONE && dtype_is_float(t)))
    return NULL;
  for (size_t i = 0; i < COUNT_OF(forms); i++)
    if (str_is(kind, forms[i].kind))
      return bits == 32 ? forms[i].form32 : forms[i].form64;
  return NULL;
}

// bf16 sums before sm_90: LLVM makes a loop of compare-and-swap.
static LLVMValueRef atomic_by_loop(struct emitter *e, const struct access *a, LLVMValueRef value) {
  struct branch br;
  LLVMTypeRef type = LLVMTypeOf(value);
  if (a->pred)
    br = branch_begin(e, a->pred);
  LLVMValueRef old = LLVMBuildAtomicRMW(e->b, LLVMAtomicRMWBinOpFAdd, a->ptr, value,
                                        LLVMAtomicOrderingMonotonic, false);
  if (!a->pred)
    return old;
  LLVMBasicBlockRef from = LLVMGetInsertBlock(e->b);
  branch_end(e, &br);
  LLVMValueRef phi = LLVMBuildPhi(e->b, type, ""), zero = LLVMConstNull(type);
  LLVMAddIncoming(phi, &old, &from, 1);
  LLVMAddIncoming(phi, &zero, &br.from, 1);
  return phi;
}

LLVMValueRef ptx_atomic_rmw(struct emitter *e, const struct access *a, struct str kind,
                            enum dtype dtype, LLVMValueRef value) {
  if (str_is(kind, "fadd") && dtype == DTYPE_BF16 && e->target->sm < 90)
    return atomic_by_loop(e, a, value);
  const char *form = atomic_form(e, kind, dtype);
  if (!form)
    return NULL;
  struct str sem = op_attr_str(a->op, "sem"), scope = op_attr_str(a->op, "scope");
  LLVMValueRef bits = to_bits(e, value), args[4];
  LLVMTypeRef type = LLVMTypeOf(bits);
  const char *c = constraint_of(LLVMGetIntTypeWidth(type));
  const char *guard = a->pred ? "@$4 " : "";
  const char *text =
      arena_printf(e->arena, "%satom.%.*s.%.*s.global.%s $0, [$2], $3;", guard,
                   sem.len ? (int)sem.len : 7, sem.len ? sem.ptr : "acq_rel",
                   scope.len ? (int)scope.len : 3, scope.len ? scope.ptr : "gpu", form);
  const char *constraints = arena_printf(e->arena, "=%s,0,l,%s%s", c, c, a->pred ? ",b" : "");
  args[0] = LLVMConstInt(type, 0, false); // what masked-off lanes get
  args[1] = a->ptr;
  args[2] = bits;
  args[3] = a->pred;
  LLVMValueRef old = memory_asm(e, text, constraints, type, args, a->pred ? 4 : 3);
  return from_bits(e, old, LLVMTypeOf(value));
}
