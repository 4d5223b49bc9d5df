// SPDX-License-Identifier: Apache-2.0
// tile.inline_asm: one piece of assembly for each `pack` elements of a thread. Elements narrower
// than 32 bits are packed: as many as fit into a 32-bit register. The constraints are LLVM's; their
// letters give the registers of the words.
#include "lowering/llvm/asm_text.h"
#include "lowering/llvm/emit.h"

#include <ctype.h>

enum { MAX_RESULTS = 8, MAX_OPERANDS = 16, MAX_PACK = 32, MAX_WORDS = 64 };

// ---- constraints ----

struct constraints {
  unsigned out_count, in_count;
  bool has_clobber, is_tied[MAX_WORDS];
  LLVMTypeRef out[MAX_WORDS], in[MAX_WORDS];
  const char *text; // in LLVM's syntax
};

static struct str after(struct str s, size_t n) { return (struct str){s.ptr + n, s.len - n}; }

static LLVMTypeRef type_of_letter(struct emitter *e, struct str letter) {
  switch (letter.len == 1 ? letter.ptr[0] : 0) {
  case 'b': return e->i1;
  case 'c':
  case 'h': return e->i16;
  case 'r': return e->i32;
  case 'l': return e->i64;
  case 'f': return e->f32;
  case 'd': return e->f64;
  default: return NULL;
  }
}

// ~{memory}, ~{cc}, ~{r1}
static bool is_clobber(struct str s) {
  bool ok = s.len > 3 && s.ptr[1] == '{' && s.ptr[s.len - 1] == '}';
  for (size_t i = 2; i + 1 < s.len && ok; i++)
    ok = isalnum((unsigned char)s.ptr[i]) || s.ptr[i] == '_' || s.ptr[i] == '%';
  return ok;
}

// One constraint of the list; false when it is none that we know.
static bool read_constraint(struct emitter *e, struct str s, struct constraints *ret) {
  if (s.len > 0 && s.ptr[0] == '~')
    return ret->has_clobber = is_clobber(s);
  bool is_out = s.len > 0 && s.ptr[0] == '=';
  if (is_out)
    s = after(s, s.len > 1 && s.ptr[1] == '&' ? 2 : 1);
  LLVMTypeRef type = type_of_letter(e, s);
  unsigned tied = 0;
  for (size_t i = 0; !type && !is_out && i < s.len && i < 3; i++)
    tied = s.ptr[i] >= '0' && s.ptr[i] <= '9' ? 10 * tied + (unsigned)(s.ptr[i] - '0') : MAX_WORDS;
  if (!type && !is_out && s.len > 0 && tied < ret->out_count && !ret->is_tied[tied]) {
    type = ret->out[tied];
    ret->is_tied[tied] = true;
  }
  unsigned *count = is_out ? &ret->out_count : &ret->in_count;
  if (!type || *count == MAX_WORDS || (is_out && ret->in_count > 0) || ret->has_clobber)
    return false;
  (is_out ? ret->out : ret->in)[(*count)++] = type;
  return true;
}

static bool read_constraints(struct emitter *e, MlirOperation op, struct constraints *ret) {
  struct str rest = op_attr_str(op, "constraints"), one;
  struct strbuf clean = {.arena = e->arena};
  bool ok = true;
  while (ok && rest.ptr) {
    rest = str_split(rest, ',', &one);
    one = str_trim(one);
    if (one.len == 0 && !rest.ptr)
      break;
    strbuf_printf(&clean, "%s%.*s", clean.len ? "," : "", STR_ARG(one));
    ok = read_constraint(e, one, ret) ||
         emit_unsupported(e, op,
                          "`%.*s` is no constraint of inline assembly: there are `h` (16 bits), "
                          "`r` (32), `l` (64), `f` and `d`, with `=` for results",
                          STR_ARG(one));
  }
  if (!op_attr_bool(op, "is_pure"))
    strbuf_puts(&clean, clean.len ? ",~{memory}" : "~{memory}");
  ret->text = arena_strdup(e->arena, strbuf_cstr(&clean));
  strbuf_finish(&clean);
  return ok;
}

// ---- words and registers ----

// NULL when the register does not hold such a word.
static LLVMValueRef to_register(struct emitter *e, LLVMValueRef word, LLVMTypeRef type) {
  unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(word));
  if (type == e->f32 || type == e->f64)
    return bits == (type == e->f32 ? 32 : 64) ? from_bits(e, word, type) : NULL;
  if (type == e->i1)
    return LLVMBuildICmp(e->b, LLVMIntNE, word, LLVMConstNull(LLVMTypeOf(word)), "");
  return bits <= LLVMGetIntTypeWidth(type) ? LLVMBuildZExt(e->b, word, type, "") : NULL;
}

static LLVMValueRef to_word(struct emitter *e, LLVMValueRef x, unsigned bits) {
  LLVMValueRef v = to_bits(e, x);
  unsigned have = LLVMGetIntTypeWidth(LLVMTypeOf(v));
  LLVMTypeRef type = LLVMIntTypeInContext(e->llvm, bits);
  if (LLVMTypeOf(x) == e->i1)
    return LLVMBuildZExt(e->b, v, type, "");
  return have >= bits ? LLVMBuildTrunc(e->b, v, type, "") : NULL;
}

// ---- the op ----

struct assembly {
  MlirOperation op;
  unsigned pack, n, m; // elements at a time, operands, results
  struct packing in[MAX_OPERANDS], out[MAX_RESULTS];
  struct constraints constraints;
  struct foreign_code code;
};

static unsigned words_of(const struct packing *p, unsigned n) {
  unsigned total = 0;
  for (unsigned k = 0; k < n; k++)
    total += p[k].word_count;
  return total;
}

static bool prepare(struct emitter *e, MlirOperation op, struct assembly *a) {
  *a = (struct assembly){.op = op, .pack = (unsigned)op_attr_int(op, "pack", 1)};
  a->n = (unsigned)mlirOperationGetNumOperands(op);
  a->m = (unsigned)mlirOperationGetNumResults(op);
  if (!e->target->hooks->inline_asm) {
    struct diag *d = diag_error(e->c->diag, op_span(e->c, op), E0604,
                                "inline assembly needs a GPU; `%s` runs none", e->target->name);
    diag_help(d, "compile for a GPU (`--target sm_90a`), or branch on the target");
    return false;
  }
  if (a->n > MAX_OPERANDS || a->m > MAX_RESULTS || a->m == 0 || a->pack > MAX_PACK)
    return emit_unsupported(e, op, "this `tile.inline_asm` has no lowering");
  for (unsigned k = 0; k < a->n; k++)
    a->in[k] = packing_of(e, type_of_mlir(e, element_type(operand_type(op, k))), a->pack);
  for (unsigned k = 0; k < a->m; k++)
    a->out[k] = packing_of(e, type_of_mlir(e, element_type(result_type(op, k))), a->pack);
  struct constraints *c = &a->constraints;
  unsigned in = words_of(a->in, a->n), out = words_of(a->out, a->m);
  if (!read_constraints(e, op, c))
    return false;
  if (c->out_count != out || c->in_count != in)
    return emit_unsupported(
        e, op,
        "the constraints of the assembly name %u results and %u operands; %u "
        "elements at a time make %u and %u registers: write a constraint for each",
        c->out_count, c->in_count, a->pack, out, in);
  struct str text = op_attr_str(op, "asm");
  const char *error = asm_text_error(e->arena, text, in + out);
  if (error) {
    struct diag *d =
        diag_error(e->c->diag, op_span(e->c, op), E0609, "the assembly cannot be read: %s", error);
    diag_help(d, "`$0` is the first operand: results first, then arguments; `$$` is a dollar sign");
    return false;
  }
  a->code = (struct foreign_code){
      .text = arena_strndup(e->arena, text.ptr, text.len),
      .constraints = c->text,
      .is_pure = op_attr_bool(op, "is_pure"),
      .arg_count = in,
      .args = arena_array(e->arena, LLVMValueRef, in + 1),
      .result = out == 1 ? c->out[0] : LLVMStructTypeInContext(e->llvm, c->out, out, false)};
  return true;
}

static bool misfit(struct emitter *e, const struct assembly *a, unsigned bits) {
  return emit_unsupported(e, a->op,
                          "a constraint of the assembly does not hold %u bits: `h` holds 16, `r` "
                          "and `f` 32, `l` and `d` 64",
                          bits);
}

// The operands of registers at[0..pack) in their words.
static bool put_operands(struct emitter *e, struct assembly *a, const unsigned *at) {
  unsigned next = 0;
  for (unsigned k = 0; k < a->n; k++) {
    LLVMValueRef elements[MAX_PACK], words[MAX_PACK];
    for (unsigned i = 0; i < a->pack; i++)
      elements[i] = operand_of(e, a->op, k)->at[at[i]];
    pack_elements(e, &a->in[k], elements, words);
    for (unsigned w = 0; w < a->in[k].word_count; w++, next++) {
      a->code.args[next] = to_register(e, words[w], a->constraints.in[next]);
      if (!a->code.args[next])
        return misfit(e, a, a->in[k].word_bits);
    }
  }
  return true;
}

// `count` elements of each result from the results of the code.
static bool take_results(struct emitter *e, const struct assembly *a, LLVMValueRef given,
                         const unsigned *at, unsigned count, struct emitted *const *results) {
  unsigned next = 0;
  for (unsigned k = 0; k < a->m; k++) {
    LLVMValueRef elements[MAX_PACK], words[MAX_PACK];
    for (unsigned w = 0; w < a->out[k].word_count; w++, next++) {
      LLVMValueRef x =
          a->constraints.out_count == 1 ? given : LLVMBuildExtractValue(e->b, given, next, "");
      words[w] = to_word(e, x, a->out[k].word_bits);
      if (!words[w])
        return misfit(e, a, a->out[k].word_bits);
    }
    unpack_elements(e, &a->out[k], words, elements);
    for (unsigned i = 0; i < count; i++)
      results[k]->at[at[i]] = elements[i];
  }
  return true;
}

bool emit_inline_asm(struct emitter *e, MlirOperation op) {
  struct assembly a;
  if (!prepare(e, op, &a))
    return false;
  const struct linear_layout *l = layout_of(e, result_type(op, 0));
  unsigned *at, count = distinct_registers(e, l, &at);
  struct emitted *results[MAX_RESULTS];
  for (unsigned k = 0; k < a.m; k++)
    results[k] = result_of(e, op, k);
  for (unsigned g = 0; g < count; g += a.pack) {
    unsigned group[MAX_PACK], have = count - g < a.pack ? count - g : a.pack;
    for (unsigned i = 0; i < a.pack; i++)
      group[i] = at[g + (i < have ? i : have - 1)];
    if (!put_operands(e, &a, group) ||
        !take_results(e, &a, e->target->hooks->inline_asm(e, &a.code), group, have, results))
      return false;
  }
  for (unsigned k = 0; k < a.m; k++)
    fill_replicas(l, results[k]);
  return true;
}
