// SPDX-License-Identifier: Apache-2.0
// Distances that addresses move by in loops, an integer of 32 bits times a power of two, as a shift
// of the extended integer instead of one multiplication:
//
//   mul.wide.s32 %rd2, %r26, 128;          cvt.s64.s32 %rd2, %r26;
//                                    ->    shl.b64 %rd2, %rd2, 7;
//   loop: add.s64 %rd9, %rd9, %rd2;        loop: add.s64 %rd9, %rd9, %rd2;
//
// ptxas repeats a mul.wide in the loop, fused with each addition (IMAD.WIDE), and these
// instructions delay wgmma: with eight of them in an iteration an f16 product at 4096 cubed takes 9
// % longer, with twelve 23 %. Only kernels with wgmma, on the text: the code generator forms
// mul.wide itself. Only results that another basic block uses; elsewhere one instruction is better
// than two.
#include "base/vec.h"
#include "lowering/llvm/emit.h"

#include <stdlib.h>

struct multiplication {
  size_t begin, end; // of its line
  unsigned block, shift;
  bool is_signed, is_step;
  struct str to, from; // registers
};

struct scan {
  struct arena *a;
  struct str ptx;
  unsigned block;
  VEC(struct multiplication) found;
  VEC(uint32_t) of; // register number of %rd -> index + 1 of the multiplication that defines it
};

static bool starts(const char *line, size_t length, const char *with) {
  size_t n = strlen(with);
  return length >= n && memcmp(line, with, n) == 0;
}

// A register at *at, which moves behind it and the comma or semicolon.
static struct str take_register(const char **at, const char *end) {
  const char *begin = *at;
  while (*at < end && **at != ',' && **at != ';')
    ++*at;
  struct str s = {begin, (size_t)(*at - begin)};
  while (*at < end && (**at == ',' || **at == ' '))
    ++*at;
  return s;
}

static bool read_multiplication(const char *line, size_t length, struct multiplication *ret) {
  static const char wide_s[] = "\tmul.wide.s32 \t", wide_u[] = "\tmul.wide.u32 \t";
  const char *at = line + sizeof wide_s - 1, *end = line + length;
  *ret = (struct multiplication){.is_signed = starts(line, length, wide_s)};
  if (!ret->is_signed && !starts(line, length, wide_u))
    return false;
  ret->to = take_register(&at, end);
  ret->from = take_register(&at, end);
  char *stop;
  unsigned long factor = at < end ? strtoul(at, &stop, 10) : 0;
  if (factor < 2 || factor > 1u << 30 || (factor & (factor - 1)) != 0 || *stop != ';' ||
      !starts(ret->to.ptr, ret->to.len, "%rd"))
    return false;
  ret->shift = (unsigned)__builtin_ctzl(factor);
  return true;
}

static unsigned long register_number(const char *rd) { return strtoul(rd + 3, NULL, 10); }

static uint32_t *slot_of(struct scan *s, unsigned long number) {
  while (s->of.len <= number)
    vec_push(s->a, &s->of, 0);
  return &s->of.at[number];
}

// Registers of 64 bits in the line that an earlier block defined by a multiplication.
static void note_uses(struct scan *s, const char *line, size_t length) {
  for (size_t i = 0; i + 3 < length; i++) {
    if (line[i] != '%' || line[i + 1] != 'r' || line[i + 2] != 'd')
      continue;
    unsigned long number = register_number(line + i);
    uint32_t at = number < s->of.len ? s->of.at[number] : 0;
    if (at && s->found.at[at - 1].block != s->block)
      s->found.at[at - 1].is_step = true;
  }
}

static void visit_line(struct scan *s, size_t begin, size_t end) {
  const char *line = s->ptx.ptr + begin;
  struct multiplication m;
  if (*line == '$') { // a label
    s->block++;
  } else if (read_multiplication(line, end - begin, &m)) {
    m.begin = begin, m.end = end, m.block = s->block;
    vec_push(s->a, &s->found, m);
    *slot_of(s, register_number(m.to.ptr)) = (uint32_t)s->found.len;
  } else {
    note_uses(s, line, end - begin);
  }
}

static void put_shift(struct strbuf *out, const struct multiplication *m) {
  char sign = m->is_signed ? 's' : 'u';
  strbuf_printf(out, "\tcvt.%c64.%c32 \t%.*s, %.*s;\n", sign, sign, STR_ARG(m->to),
                STR_ARG(m->from));
  strbuf_printf(out, "\tshl.b64 \t%.*s, %.*s, %u;", STR_ARG(m->to), STR_ARG(m->to), m->shift);
}

struct str shift_loop_steps(struct str ptx, struct arena *a) {
  struct scan s = {.a = a, .ptx = ptx};
  for (size_t at = 0; at < ptx.len;) {
    const char *newline = memchr(ptx.ptr + at, '\n', ptx.len - at);
    size_t end = newline ? (size_t)(newline - ptx.ptr) : ptx.len;
    visit_line(&s, at, end);
    at = end + 1;
  }
  struct strbuf out = {.arena = a};
  size_t from = 0;
  for (size_t i = 0; i < s.found.len; i++) {
    const struct multiplication *m = &s.found.at[i];
    if (!m->is_step)
      continue;
    strbuf_put(&out, ptx.ptr + from, m->begin - from);
    put_shift(&out, m);
    from = m->end;
  }
  strbuf_put(&out, ptx.ptr + from, ptx.len - from);
  struct str text = {arena_strndup(a, strbuf_cstr(&out), out.len), out.len}; // with a final NUL
  strbuf_finish(&out);
  return text;
}
