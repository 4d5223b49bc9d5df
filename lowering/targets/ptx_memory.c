// SPDX-License-Identifier: Apache-2.0
// Global memory on NVIDIA GPUs: predicated vector loads and stores. Accesses without
// predicate and cache hints are plain LLVM ones, which fold address arithmetic; the rest is inline
// PTX.
#include "lowering/targets/ptx.h"

LLVMValueRef ptx_memory_asm(struct emitter *e, const char *text, const char *constraints,
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

const char *ptx_constraint_of(unsigned bits) { return bits == 64 ? "l" : bits == 32 ? "r" : "h"; }

// 8-bit words are in 16-bit registers.
static LLVMTypeRef register_type(struct emitter *e, unsigned bits) {
  return LLVMIntTypeInContext(e->llvm, bits < 16 ? 16 : bits);
}

// Cache hints of an access: operators after `ld.global` or `st.global`, and an L2 policy.
struct hints {
  const char *suffix;
  LLVMValueRef policy; // NULL: none
};

// Built once: LLVM merges equal ones.
LLVMValueRef ptx_eviction_policy(struct emitter *e, MlirOperation op) {
  struct str evict = op_attr_str(op, "evict");
  if (!str_is(evict, "evict_first") && !str_is(evict, "evict_last"))
    return NULL;
  const char *text = arena_printf(e->arena, "createpolicy.fractional.L2::%.*s.b64 $0, 0f3F800000;",
                                  STR_ARG(evict));
  return ptx_pure_asm(e, text, "=l", e->i64, NULL, 0);
}

// PTX takes a cache operator or an L1 eviction priority, and with either an L2 one.
static struct hints hints_of(struct emitter *e, MlirOperation op) {
  struct str cache = op_attr_str(op, "cache"), evict = op_attr_str(op, "evict");
  if (op_attr_bool(op, "is_volatile"))
    return (struct hints){"", NULL};
  LLVMValueRef policy = ptx_eviction_policy(e, op);
  const char *first = cache.len ? arena_printf(e->arena, ".%.*s", STR_ARG(cache))
                      : policy  ? arena_printf(e->arena, ".L1::%.*s", STR_ARG(evict))
                                : "";
  if (!policy)
    return (struct hints){first, NULL};
  return (struct hints){arena_printf(e->arena, "%s.L2::cache_hint", first), policy};
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

// The text and the operands of a masked load: its results come first in both.
struct masked {
  struct strbuf text, constraints;
  LLVMValueRef args[20];
  unsigned result_count, arg_count;
};

// "$N" of the next argument.
static unsigned add_arg(struct masked *m, LLVMValueRef arg, const char *constraint) {
  strbuf_printf(&m->constraints, ",%s", constraint);
  m->args[m->arg_count] = arg;
  return m->result_count + m->arg_count++;
}

// The destination registers hold `other` beforehand (NULL: zero). The assembly text moves
// constants: as tied operands they would be one value copied for all loads, and LLVM's register
// coalescer would visit all its uses for each load.
static void preset_results(struct emitter *e, const struct access *a, const LLVMValueRef *other,
                           struct masked *m) {
  LLVMTypeRef reg = register_type(e, a->word_bits);
  LLVMValueRef values[8];
  for (unsigned i = 0; i < a->count; i++) {
    values[i] = other ? LLVMBuildZExt(e->b, other[i], reg, "") : LLVMConstInt(reg, 0, false);
    bool moved = a->pred && LLVMIsAConstantInt(values[i]);
    strbuf_printf(&m->constraints, "%s=%s%s", i ? "," : "", moved ? "&" : "",
                  ptx_constraint_of(a->word_bits));
    if (moved)
      strbuf_printf(&m->text, "mov.b%u $%u, %#llx;\n\t", LLVMGetIntTypeWidth(reg), i,
                    LLVMConstIntGetZExtValue(values[i]));
  }
  for (unsigned i = 0; a->pred && i < a->count; i++)
    if (!LLVMIsAConstantInt(values[i]))
      add_arg(m, values[i], arena_printf(e->arena, "%u", i));
}

static void asm_load(struct emitter *e, const struct access *a, struct hints hints,
                     const LLVMValueRef *other, LLVMValueRef *ret) {
  unsigned n = a->count;
  struct masked m = {
      .text = {.arena = e->arena}, .constraints = {.arena = e->arena}, .result_count = n};
  preset_results(e, a, other, &m);
  unsigned ptr = add_arg(&m, a->ptr, "l");
  if (a->pred)
    strbuf_printf(&m.text, "@$%u ", add_arg(&m, a->pred, "b"));
  strbuf_printf(&m.text, "ld%s.global%s%s.b%u ",
                op_attr_bool(a->op, "is_volatile") ? ".volatile" : "", hints.suffix,
                vector_suffix(n), a->word_bits);
  put_operands(&m.text, 0, n);
  strbuf_printf(&m.text, ", [$%u]", ptr);
  if (hints.policy)
    strbuf_printf(&m.text, ", $%u", add_arg(&m, hints.policy, "l"));
  strbuf_putc(&m.text, ';');
  LLVMTypeRef members[8];
  for (unsigned i = 0; i < n; i++)
    members[i] = register_type(e, a->word_bits);
  LLVMTypeRef result = n == 1 ? members[0] : LLVMStructTypeInContext(e->llvm, members, n, false);
  LLVMValueRef v = ptx_memory_asm(e, arena_text(e, &m.text), arena_text(e, &m.constraints), result,
                                  m.args, m.arg_count);
  for (unsigned i = 0; i < n; i++) {
    LLVMValueRef x = n == 1 ? v : LLVMBuildExtractValue(e->b, v, i, "");
    ret[i] = LLVMBuildTrunc(e->b, x, LLVMIntTypeInContext(e->llvm, a->word_bits), "");
  }
}

void ptx_load(struct emitter *e, const struct access *a, const LLVMValueRef *other,
              LLVMValueRef *ret) {
  struct hints hints = hints_of(e, a->op);
  if (!a->pred && !*hints.suffix && !op_attr_bool(a->op, "is_volatile"))
    plain_load(e, a, ret);
  else
    asm_load(e, a, hints, other, ret);
}

static void plain_store(struct emitter *e, const struct access *a, const LLVMValueRef *words) {
  LLVMSetAlignment(LLVMBuildStore(e->b, join_words(e, a->count, words), a->ptr), a->align);
}

static void asm_store(struct emitter *e, const struct access *a, struct hints hints,
                      const LLVMValueRef *words) {
  LLVMTypeRef reg = register_type(e, a->word_bits);
  struct strbuf text = {.arena = e->arena}, constraints = {.arena = e->arena};
  LLVMValueRef args[20] = {a->ptr};
  unsigned arg_count = 1;
  strbuf_puts(&constraints, "l");
  for (unsigned i = 0; i < a->count; i++) {
    args[arg_count++] = LLVMBuildZExt(e->b, words[i], reg, "");
    strbuf_printf(&constraints, ",%s", ptx_constraint_of(a->word_bits));
  }
  if (a->pred) {
    strbuf_printf(&text, "@$%u ", arg_count);
    args[arg_count++] = a->pred;
    strbuf_puts(&constraints, ",b");
  }
  strbuf_printf(&text, "st.global%s%s.b%u [$0], ", hints.suffix, vector_suffix(a->count),
                a->word_bits);
  put_operands(&text, 1, a->count);
  if (hints.policy) {
    strbuf_printf(&text, ", $%u", arg_count);
    strbuf_puts(&constraints, ",l");
    args[arg_count++] = hints.policy;
  }
  strbuf_putc(&text, ';');
  ptx_memory_asm(e, arena_text(e, &text), arena_text(e, &constraints),
                 LLVMVoidTypeInContext(e->llvm), args, arg_count);
}

void ptx_store(struct emitter *e, const struct access *a, const LLVMValueRef *words) {
  struct hints hints = hints_of(e, a->op);
  if (!a->pred && !*hints.suffix)
    plain_store(e, a, words);
  else
    asm_store(e, a, hints, words);
}
