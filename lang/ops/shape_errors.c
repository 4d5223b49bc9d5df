// SPDX-License-Identifier: Apache-2.0
// Errors of broadcasting (E0214): what does not fit, and what to write in the user's own names.
#include "lang/ops/ops.h"

#include <ctype.h>

static const char *shape_text(struct eval *e, struct type t) {
  struct strbuf s = {.arena = e->a};
  for (unsigned i = 0; i < t.rank; i++)
    strbuf_printf(&s, "%s%d", i ? "x" : "", t.shape[i]);
  return t.rank ? strbuf_cstr(&s) : "1";
}

// ---- another axis ----

// Marks the axes of `large` along which the dimensions of `small` lie. False: there are none.
static bool place_axes(struct type small, struct type large, bool *is_taken) {
  unsigned k = 0;
  for (unsigned i = 0; i < small.rank; i++, k++) {
    while (k < large.rank && large.shape[k] != small.shape[i])
      is_taken[k++] = false;
    if (k == large.rank)
      return false;
    is_taken[k] = true;
  }
  while (k < large.rank)
    is_taken[k++] = false;
  return small.rank > 0 && small.rank < large.rank;
}

static const char *axes_text(struct eval *e, unsigned rank, const bool *is_taken) {
  struct strbuf s = {.arena = e->a};
  for (unsigned i = 0; i < rank; i++)
    strbuf_printf(&s, "%s%s", i ? ", " : "", is_taken[i] ? ":" : "None");
  return strbuf_cstr(&s);
}

// The reduction that computes x, or null.
static MlirOperation reduction_of(struct eval *e, MlirValue x) {
  MlirOperation none = {NULL};
  while (mlirValueIsAOpResult(x)) {
    MlirOperation op = mlirOpResultGetOwner(x);
    if (op_is(e->c, op, OP_TILE_REDUCE))
      return op;
    if (mlirOperationGetNumOperands(op) != 1)
      return none;
    x = mlirOperationGetOperand(op, 0);
  }
  return none;
}

// `tl.max(v, axis=1)` itself, without the axis that `is_taken` lacks: the location before its last
// parenthesis, else SPAN_NONE.
static struct span end_of_reduction(struct eval *e, struct operand x, struct str text,
                                    unsigned rank, const bool *is_taken) {
  MlirOperation op = reduction_of(e, x.v.rt);
  int64_t axis = mlirOperationIsNull(op) ? -1 : op_attr_int(op, "axis", -1);
  bool is_call = spelled_is_primary(text) && text.ptr[text.len - 1] == ')' &&
                 !strstr(arena_strndup(e->a, text.ptr, text.len), "keep_dims");
  if (!is_call || axis < 0 || axis >= rank || is_taken[axis])
    return SPAN_NONE;
  return (struct span){x.at.source, x.at.end - 1, x.at.end - 1};
}

// Whether the operator at `at` assigns to its left operand: `v += m`.
static bool is_augmented(struct span at) {
  const char *text = at.source ? at.source->text.ptr : "";
  return at.source && at.end - at.begin > 1 && text[at.end - 1] == '=' &&
         !strchr("=!<>", text[at.begin]);
}

// The operand with the parentheses that group it; those of a call remain.
static struct span grouped(struct span at) {
  struct span outer = span_with_parentheses(at);
  uint32_t before = outer.begin;
  while (before && at.source->text.ptr[before - 1] == ' ')
    before--;
  unsigned char c = before ? (unsigned char)at.source->text.ptr[before - 1] : ' ';
  bool is_call = isalnum(c) || c == '_' || c == ')' || c == ']';
  return is_call ? at : outer;
}

// `v += m` where v lacks an axis of m: `v = v[:, None] + m`.
static bool help_augmented(struct eval *e, struct diag *d, struct operand a, struct operand b,
                           struct span at) {
  bool is_taken[TYPE_MAX_RANK];
  struct str left = eval_spelled(e, a.at), right = eval_spelled(e, b.at);
  if (!is_augmented(at) || !left.len || !right.len || !place_axes(a.v.type, b.v.type, is_taken))
    return false;
  const char *edit =
      arena_printf(e->a, "%.*s = %.*s[%s] %.*s %s", STR_ARG(left), STR_ARG(left),
                   axes_text(e, b.v.type.rank, is_taken), (int)(at.end - at.begin - 1),
                   at.source->text.ptr + at.begin, spelled_primary(e, right));
  diag_help(d, "give the left side a second axis: `%s`", edit);
  diag_fixit(d, span_join(a.at, b.at), edit);
  return true;
}

static bool help_another_axis(struct eval *e, struct diag *d, struct operand small,
                              struct type large) {
  bool is_taken[TYPE_MAX_RANK];
  if (!place_axes(small.v.type, large, is_taken))
    return false;
  struct str text = eval_spelled(e, small.at);
  const char *axes = axes_text(e, large.rank, is_taken);
  struct span end = text.len ? end_of_reduction(e, small, text, large.rank, is_taken) : SPAN_NONE;
  const char *which = large.rank == 2 ? "a second axis" : "the axes that it lacks";
  if (end.source) {
    diag_help(d, "keep the reduced axis: `%.*s, keep_dims=True)`", (int)text.len - 1, text.ptr);
    diag_fixit(d, end, ", keep_dims=True");
  } else if (text.len) {
    const char *edit = arena_printf(e->a, "%s[%s]", spelled_primary(e, text), axes);
    diag_help(d, "give it %s: `%s`", which, edit);
    diag_fixit(d, grouped(small.at), edit);
  } else {
    diag_help(d, "give it %s: `x[%s]`", which, axes);
  }
  return true;
}

// ---- other sizes ----

static bool help_transpose(struct eval *e, struct diag *d, struct operand x, struct type t) {
  struct type s = x.v.type;
  if (s.rank != 2 || t.rank != 2 || s.shape[0] != t.shape[1] || s.shape[1] != t.shape[0])
    return false;
  struct str text = eval_spelled(e, x.at);
  const char *edit = text.len ? arena_printf(e->a, "tl.trans(%.*s)", STR_ARG(text)) : "tl.trans(x)";
  diag_help(d, "transpose it: `%s`", edit);
  if (text.len)
    diag_fixit(d, x.at, edit);
  return true;
}

void report_broadcast_pair(struct eval *e, struct operand a, struct operand b, struct span at) {
  struct type x = a.v.type, y = b.v.type;
  bool a_is_small = x.rank <= y.rank;
  struct operand small = a_is_small ? a : b, large = a_is_small ? b : a;
  struct diag *d = eval_error(e, at, E0214, "cannot broadcast %s to %s",
                              type_text(e->a, small.v.type), type_text(e->a, large.v.type));
  diag_label(d, a.at, "%s", type_text(e->a, x));
  diag_label(d, b.at, "%s", type_text(e->a, y));
  if (help_augmented(e, d, a, b, at) || help_another_axis(e, d, small, large.v.type) ||
      help_transpose(e, d, b, x))
    return;
  if (x.rank == 1 && y.rank == 1)
    diag_help(d, "%d elements against %d: make both sizes equal", x.shape[0], y.shape[0]);
  else
    diag_help(d,
              "%s against %s: aligned at the right, each pair of dimensions must be equal or "
              "hold a 1",
              shape_text(e, x), shape_text(e, y));
}

// ---- values, masks and pointers ----

const struct variable *find_offsets(const struct eval *e, struct type t) {
  const struct variable *best = NULL;
  struct map_entry entry;
  for (size_t i = 0; map_next(&e->frame->variables, &i, &entry);) {
    const struct variable *v = entry.value;
    bool fits = v->value.kind == VALUE_RT && type_is_int(v->value.type) &&
                !type_is_bool(v->value.type) && type_shape_eq(v->value.type, t);
    if (fits && (!best || v->span.begin < best->span.begin))
      best = v;
  }
  return best;
}

// One address for many elements: offsets are missing.
static void help_offsets(struct eval *e, struct diag *d, struct type t, const char *what,
                         struct span pointer) {
  struct str text = eval_spelled(e, pointer);
  const struct variable *v = text.len ? find_offsets(e, t) : NULL;
  const char *offsets = v             ? v->name
                        : t.rank == 1 ? arena_printf(e->a, "tl.arange(0, %d)", t.shape[0])
                                      : NULL;
  if (!text.len || !offsets) {
    diag_help(d, "the pointer is one address, %s%s elements: add as many offsets to the pointer",
              what, shape_text(e, t));
    return;
  }
  const char *edit = arena_printf(e->a, "%.*s + %s", STR_ARG(text), offsets);
  diag_help(d, "the pointer is one address, %s%s elements: add offsets, `%s`", what,
            shape_text(e, t), edit);
  diag_fixit(d, pointer, edit);
}

void report_broadcast_to(struct eval *e, struct operand x, struct type t, const char *what,
                         struct span pointer) {
  struct type s = x.v.type;
  struct diag *d = eval_error(e, x.at, E0214, "cannot broadcast %s%s to %s", what,
                              type_text(e->a, s), type_text(e->a, type_shaped(type_elem(s), t)));
  if (*what)
    diag_primary_label(d, "%s elements", shape_text(e, s));
  if (pointer.source && !e->frame->is_std)
    diag_label(d, pointer, t.rank ? "%s pointers" : "%s pointer", shape_text(e, t));
  if (t.rank == 0 && *what)
    help_offsets(e, d, s, what, pointer);
  else if (help_another_axis(e, d, x, t) || help_transpose(e, d, x, t))
    return;
  else if (!*what)
    diag_help(d, "%s against %s: aligned at the right, each dimension must be equal or 1",
              shape_text(e, s), shape_text(e, t));
  else if (s.rank > t.rank)
    diag_help(d,
              "%shas %s elements, the pointers %s: give both one shape; the pointers lack the "
              "offsets of an axis, or this has an axis too many",
              what, shape_text(e, s), shape_text(e, t));
  else
    diag_help(d, "%shas %s elements, the pointers %s: make both sizes equal", what,
              shape_text(e, s), shape_text(e, t));
}
