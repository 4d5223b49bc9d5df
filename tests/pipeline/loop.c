// SPDX-License-Identifier: Apache-2.0
// Loops with common features: advancing pointers, addresses from the counter or from other
// loads, masks and other values, chained products, branches, stores.
#include "loop.h"

static unsigned pick(struct suite *s, unsigned n) { return (unsigned)(random_bits(s) % n); }

static struct load random_load(struct suite *s) {
  // Prefers plain ones.
  struct load l = {.address = pick(s, 3) ? pick(s, 2) : pick(s, ADDRESS_COUNT),
                   .mask = pick(s, 2) ? pick(s, MASK_COUNT) : NO_MASK,
                   .other = pick(s, OTHER_COUNT)};
  if (l.mask == NO_MASK)
    l.other = NO_OTHER;
  return l;
}

struct loop random_loop(struct suite *s) {
  static const enum dtype types[] = {DTYPE_F16, DTYPE_F16, DTYPE_F32, DTYPE_BF16};
  struct loop l = {.type = types[pick(s, 4)],
                   .rows = 16u << pick(s, 2),
                   .inner = 16u << pick(s, 2),
                   .columns = 16u << pick(s, 2),
                   .a = random_load(s),
                   .b = random_load(s),
                   .v = random_load(s),
                   .work = pick(s, WORK_COUNT),
                   .effect = pick(s, 3) ? NO_EFFECT : pick(s, EFFECT_COUNT),
                   .bounds = pick(s, BOUNDS_COUNT),
                   .asks = pick(s, 3) == 0,
                   .is_nested = pick(s, 5) == 0,
                   .uses_end = pick(s, 3) == 0,
                   .trips = pick(s, 8),
                   .warps = 1u << pick(s, 4)};
  if (l.work == SUM) {
    l.columns = l.inner;
    l.asks = true;
  }
  return l;
}

// ---- text ----

static const char *type_name(enum dtype t) {
  return t == DTYPE_F16 ? "tl.float16" : t == DTYPE_BF16 ? "tl.bfloat16" : "tl.float32";
}

// One operand: its name, and the names of its tile's height and width.
struct operand {
  const struct load *load;
  const char *name, *height, *width;
};

static void write_setup(struct suite *s, const struct operand *o, const char *indent) {
  const char *n = o->name;
  case_source(s, "%s%s_r = arange(0, %s)\n%s%s_c = arange(0, %s)\n", indent, n, o->height, indent,
              n, o->width);
  case_source(s, "%s%s_at = %s_r[:, None] * %s + %s_c[None, :]\n", indent, n, n, o->width, n);
  case_source(s, "%s%s_p = %s + %s_at\n", indent, n, n, n);
  if (o->load->address == LINKED)
    case_source(s, "%s%s_j = 0\n", indent, n);
}

static void write_mask(struct suite *s, const struct operand *o) {
  const char *n = o->name;
  switch (o->load->mask) {
  case COLUMNS: case_source(s, ", mask=%s_c[None, :] < %s - t * 3", n, o->width); break;
  case ROWS: case_source(s, ", mask=%s_r[:, None] < %s - t * 5", n, o->height); break;
  case TURNS: case_source(s, ", mask=(%s_at >= 0) & (t != 2)", n); break;
  default: return;
  }
  if (o->load->other != NO_OTHER)
    case_source(s, ", other=%s", o->load->other == ZERO ? "0" : "3");
}

static void write_load(struct suite *s, const struct operand *o, const char *in) {
  const char *n = o->name, *h = o->height, *w = o->width;
  switch (o->load->address) {
  case CARRIED: case_source(s, "%s%s_t = load(%s_p", in, n, n); break;
  case COUNTED:
    case_source(s, "%s%s_t = load(%s + t * (%s * %s) + %s_at", in, n, n, h, w, n);
    break;
  case INDEXED:
    case_source(s, "%s%s_t = load(%s + load(index + t) * (%s * %s) + %s_at", in, n, n, h, w, n);
    break;
  case ROWS_INDEXED:
    case_source(s, "%s%s_j = load(index + t + %s_r)\n", in, n, n);
    case_source(s, "%s%s_t = load(%s + %s_j[:, None] * %s + %s_c[None, :]", in, n, n, n, w, n);
    break;
  case INDEXED_TWICE:
    case_source(s, "%s%s_j = load(index + load(index + t))\n", in, n);
    case_source(s, "%s%s_t = load(%s + %s_j * (%s * %s) + %s_at", in, n, n, n, h, w, n);
    break;
  default:
    case_source(s, "%s%s_t = load(%s + %s_j * (%s * %s) + %s_at", in, n, n, n, h, w, n);
    break;
  }
  write_mask(s, o);
  case_source(s, ")\n");
}

static void write_advance(struct suite *s, const struct operand *o, const char *in) {
  if (o->load->address == CARRIED)
    case_source(s, "%s%s_p += %s * %s\n", in, o->name, o->height, o->width);
  if (o->load->address == LINKED)
    case_source(s, "%s%s_j = load(index + %s_j + 1)\n", in, o->name, o->name);
}

static void write_work(struct suite *s, const struct loop *l, const char *in) {
  switch (l->work) {
  case DOT: case_source(s, "%sacc = tl.dot(a_t, b_t, acc)\n", in); break;
  case SCALED_DOT:
    case_source(s, "%sacc += tl.dot(a_t, b_t) * load(w + t * N + arange(0, N))[None, :]\n", in);
    break;
  case TWO_DOTS:
    case_source(s, "%ss = tl.dot(a_t, b_t) * 0.125\n", in);
    case_source(s, "%sacc = tl.dot(s.to(T), v_t, acc)\n", in);
    break;
  case SUM: case_source(s, "%sacc += a_t * load(w + t)\n", in); break;
  case DOT_IF:
    case_source(s, "%sif t %% 3 != 1:\n%s    acc = tl.dot(a_t, b_t, acc)\n", in, in);
    break;
  case DOT_OF_LAST: case_source(s, "%sacc = tl.dot(last, b_t, acc)\n%slast = a_t\n", in, in); break;
  default:
    case_source(s, "%sacc = tl.dot(a_t, b_t, acc)\n", in);
    case_source(s, "%sacc += tl.sum(a_t.to(tl.float32), 1)[:, None]\n", in);
  }
}

static void write_bounds(struct suite *s, const struct loop *l, const char *in) {
  static const char *const ranges[BOUNDS_COUNT] = {"0, n", "5, 5 + 3 * n, 3", "0, n",
                                                   "0, n.to(tl.int64)"};
  static const char *const iterations[BOUNDS_COUNT] = {
      "i", "(i - 5) // 3", "n - (n - i) * (n - i) // (n - i)", "i.to(tl.int32)"};
  if (l->asks)
    case_source(s, "%sfor i in tl.range(%s, num_stages=S):\n", in, ranges[l->bounds]);
  else
    case_source(s, "%sfor i in range(%s):\n", in, ranges[l->bounds]);
  case_source(s, "%s    t = %s\n", in, iterations[l->bounds]);
}

static void write_effect(struct suite *s, const struct loop *l, const char *in) {
  if (l->effect == STORES)
    case_source(s, "%sstore(side + t * (M * N) + out_at, acc)\n", in);
  if (l->effect == COUNTS)
    case_source(s, "%stl.atomic_add(side + out_at, 1.0, sem=\"relaxed\")\n", in);
}

void write_loop(struct suite *s, const struct loop *l, unsigned stages) {
  struct operand operands[] = {
      {&l->a, "a", "M", "K"}, {&l->b, "b", "K", "N"}, {&l->v, "v", "N", "N"}};
  unsigned count = l->work == TWO_DOTS ? 3 : l->work == SUM ? 1 : 2;
  const char *out = l->is_nested ? "        " : "    ",
             *in = l->is_nested ? "            " : "        ";
  case_source(s, "S: tl.constexpr = %u\nM: tl.constexpr = %u\n", stages, l->rows);
  case_source(s, "K: tl.constexpr = %u\nN: tl.constexpr = %u\n", l->inner, l->columns);
  case_source(s, "T: tl.constexpr = %s\n\n", type_name(l->type));
  case_source(s, "@jit\ndef k(a, b, v, w, index, out, side, n):\n");
  case_source(s, "    out_at = arange(0, M)[:, None] * N + arange(0, N)[None, :]\n");
  case_source(s, "    acc = tl.zeros((M, N), tl.float32)\n    last = tl.zeros((M, K), T)\n");
  if (l->is_nested)
    case_source(s, "    for outer in range(0, 2):\n");
  for (unsigned i = 0; i < count; i++)
    write_setup(s, &operands[i], out);
  write_bounds(s, l, out);
  for (unsigned i = 0; i < count; i++)
    write_load(s, &operands[i], in);
  write_work(s, l, in);
  write_effect(s, l, in);
  for (unsigned i = 0; i < count; i++)
    write_advance(s, &operands[i], in);
  if (l->uses_end && l->a.address == CARRIED)
    case_source(s, "%sacc += tl.sum(load(a_p).to(tl.float32))\n", out);
  if (l->uses_end && l->a.address == LINKED)
    case_source(s, "%sacc += a_j\n", out);
  case_source(s, "    store(out + out_at, acc)\n");
}
