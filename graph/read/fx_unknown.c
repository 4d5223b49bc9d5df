// SPDX-License-Identifier: Apache-2.0
// Operators that are not in the tables: one message names all of them, by their uses.
#include "graph/read/fx_reader.h"

#include <stdlib.h>

void fx_note_unknown(struct reader *r, struct str name, struct span at) {
  size_t i = (size_t)(uintptr_t)map_get(&r->unknown_names, name);
  if (i == 0) {
    vec_push(r->arena, &r->unknown, (struct unknown_operator){name, 0, at});
    i = r->unknown.len;
    map_put(r->arena, &r->unknown_names, name, (void *)(uintptr_t)i);
  }
  r->unknown.at[i - 1].uses++;
}

static int by_uses(const void *a, const void *b) {
  const struct unknown_operator *x = a, *y = b;
  if (x->uses != y->uses)
    return x->uses < y->uses ? 1 : -1;
  return (x->span.begin > y->span.begin) - (x->span.begin < y->span.begin);
}

// Operators that cannot be supported, and why.
static const char *refusal(struct str name) {
  static const char *const sized[] = {"aten.nonzero.",  "aten.masked_select.",
                                      "aten._unique",   "aten.unique",
                                      "aten.bincount.", "aten.repeat_interleave.Tensor"};
  static const char *const algebra[] = {
      "aten.linalg_",   "aten._linalg_", "aten.cholesky",    "aten.inverse.",
      "aten.pinverse.", "aten.det.",     "aten.logdet.",     "aten.slogdet.",
      "aten.lu_",       "aten._lu_",     "aten.qr.",         "aten.geqrf.",
      "aten.ormqr.",    "aten.orgqr.",   "aten.svd.",        "aten._svd",
      "aten.symeig.",   "aten.lstsq.",   "aten.matrix_exp.", "aten.triangular_solve."};
  if (str_starts(name, "aten._weight_int4pack_mm"))
    return "its weight is packed in the order of one device's matrix instructions: keep two values "
           "of 4 bits in a byte (uint8), unpack them by shifts and `bitwise_and`, scale each "
           "group, and multiply by `mm`; fusion reads the packed bytes in the product";
  for (size_t i = 0; i < COUNT_OF(sized); i++)
    if (str_starts(name, sized[i]))
      return "the size of its result depends on the contents of a tensor: use the largest size and "
             "a mask (`torch.where`, `nonzero_static`, `scatter_add` into known bins), or compute "
             "it before the graph";
  for (size_t i = 0; i < COUNT_OF(algebra); i++)
    if (str_starts(name, algebra[i]))
      return "linear algebra of matrices is not compiled: compute it before the graph (LAPACK, "
             "cuSOLVER) and pass its results as inputs, or write it as products, as "
             "Newton-Schulz iterations are";
  return NULL;
}

// `aten.add`: PyTorch prints the overload too. The row of that name with a usual one, or NULL.
static const char *with_overload(struct reader *r, struct str name) {
  static const char *const overloads[] = {"Tensor", "default", "Scalar", "dim_IntList",
                                          "int",    "dim",     "self"};
  size_t dots = 0;
  for (size_t i = 0; i < name.len; i++)
    dots += name.ptr[i] == '.';
  for (size_t i = 0; dots == 1 && i < COUNT_OF(overloads); i++) {
    enum operator_id id;
    const char *full = arena_printf(r->arena, "%.*s.%s", STR_ARG(name), overloads[i]);
    if (operator_find(str_from(full), &id))
      return full;
  }
  return NULL;
}

// What the message says about one operator.
static bool note_unknown_operator(struct reader *r, struct diag *d,
                                  const struct unknown_operator *u) {
  const char *full = with_overload(r, u->name);
  const char *why = full ? NULL : refusal(u->name), *near = why ? NULL : operator_nearest(u->name);
  if (full) {
    diag_note(d, u->span, "`%.*s` lacks its overload: `%s`", STR_ARG(u->name), full);
    diag_fixit(d, u->span, full);
  } else if (why)
    diag_note(d, u->span, "`%.*s`: %s", STR_ARG(u->name), why);
  else if (near)
    diag_note(d, u->span, "the closest name to `%.*s` is `%s`", STR_ARG(u->name), near);
  return why || near;
}

void fx_report_unknown(struct reader *r) {
  enum { SHOWN = 40, NEAR = 8 };
  if (r->unknown.len == 0)
    return;
  struct strbuf names = {.arena = r->arena};
  struct span first = r->unknown.at[0].span;
  qsort(r->unknown.at, r->unknown.len, sizeof *r->unknown.at, by_uses);
  for (size_t i = 0; i < r->unknown.len && i < SHOWN; i++)
    strbuf_printf(&names, "%s`%.*s` (%u)", i ? ", " : "", STR_ARG(r->unknown.at[i].name),
                  r->unknown.at[i].uses);
  if (r->unknown.len > SHOWN)
    strbuf_printf(&names, " and %zu more", r->unknown.len - SHOWN);
  struct diag *d = diag_error(r->diag, first, E1002, "%zu unknown operator%s: %s", r->unknown.len,
                              r->unknown.len == 1 ? "" : "s", strbuf_cstr(&names));
  strbuf_finish(&names);
  size_t shown = 0;
  for (size_t i = 0; i < r->unknown.len && i < SHOWN && shown < NEAR; i++)
    shown += note_unknown_operator(r, d, &r->unknown.at[i]);
  diag_help(d, "docs/operators.md lists the operators; let PyTorch decompose others\nbefore the "
               "graph is printed, or register them (tile/operator.h)");
}
