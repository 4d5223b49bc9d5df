// SPDX-License-Identifier: Apache-2.0
// A parameter that is a tensor descriptor: 2 * n parameters of the compiled kernel, for n
// dimensions: the base `a`, the sizes `a.shape[0]`, ..., and the strides `a.strides[0]`, ... of all
// dimensions but the last, whose stride is 1. Element and block come from the annotation
// (`tensordesc[f16, [64, BK]]`), from the launch, or from both; then they must be equal.
#include "lang/builtins/builtins.h"
#include "lang/emit/control.h"
#include "lang/emit/kernel_param.h"
#include "lang/eval/consteval.h"
#include "lang/eval/python.h"
#include "lang/unit.h"
#include "mlir-dialects/descriptor.h"

_Static_assert((int)LANG_BLOCK_RANK == (int)DESCRIPTOR_MAX_RANK, "ranks of descriptors differ");

bool descriptor_param_is(const struct kernel_param *p) {
  return p->binding ? p->binding->kind == BIND_DESCRIPTOR
                    : p->declared->is_typed && p->declared->is_descriptor;
}

static struct span here(const struct kernel_param *p) { return p->ast->span; }

static bool wrong(struct eval *e, const struct kernel_param *p, const char *given) {
  const struct lang_param *a = p->declared;
  struct type t = {.dtype = a->dtype, .ptr = a->is_pointer};
  const char *declared = a->is_descriptor
                             ? arena_printf(e->a, "a tensor descriptor of %s of rank %u",
                                            dtype_name(a->dtype), a->block.rank)
                             : type_text(e->a, t);
  struct diag *d = eval_error(e, here(p), E0413, "`%s` is declared %s but given as %s", p->name,
                              declared, given);
  diag_help(d, "change the annotation, or the argument");
  return false;
}

// The element type and the rank. The annotation and the launch must agree.
static bool find_type(struct eval *e, const struct kernel_param *p, struct type *ret_pointee,
                      unsigned *ret_rank) {
  const struct lang_param *a = p->declared;
  const struct lang_binding *b = p->binding;
  unsigned rank = b && b->block.rank ? b->block.rank : a->is_descriptor ? a->block.rank : 0;
  *ret_pointee = type_scalar(b ? b->dtype : a->dtype);
  *ret_rank = rank;
  if (a->is_constexpr) {
    struct diag *d = eval_error(
        e, here(p), E0413, "`%s` is a compile-time parameter and cannot be an argument", p->name);
    diag_help(d, "pass `-D %s=...`", p->name);
    return false;
  }
  const char *given =
      b ? arena_printf(e->a, "a tensor descriptor of %s of rank %u", dtype_name(b->dtype), rank)
        : NULL;
  if (b && a->is_typed && (!a->is_descriptor || a->dtype != b->dtype || a->block.rank != rank))
    return wrong(e, p, given);
  if (rank >= 1 && rank <= DESCRIPTOR_MAX_RANK && !type_is_bool(*ret_pointee))
    return true;
  diag_help(eval_error(e, here(p), E0413,
                       "`%s` cannot be a tensor descriptor of %s with %u dimensions", p->name,
                       type_text(e->a, *ret_pointee), rank),
            "declare it as `tensordesc[f16, [64, 32]]`: numbers of whole bytes, 1 to 5 dimensions");
  return false;
}

// ---- the block ----

// The size of dimension `i` that the annotation gives.
static bool annotated(struct eval *e, const struct kernel_param *p, unsigned i, int64_t *ret) {
  const struct expr *x = descriptor_annotation_block(p->ast->annotation)->items.at[i];
  struct purpose purpose = {.code = E0413, .what = "the block of a tensor descriptor"};
  e->on = &python_dialect;
  e->purpose = &purpose;
  struct operand v = {eval_expr(e, x), x->span};
  bool known = need_known(e, v) && need_const_int(e, v, "the block of a tensor descriptor", ret);
  e->on = &kernel_dialect;
  e->purpose = NULL;
  e->stopped = false; // an error ends only the evaluation of the annotation
  return known;
}

static bool dimension(struct eval *e, const struct kernel_param *p, unsigned i, int64_t *ret) {
  int64_t given = p->binding ? p->binding->block.shape[i] : 0, declared;
  if (!p->declared->is_descriptor) {
    *ret = given;
    if (given)
      return true;
    struct diag *d =
        eval_error(e, here(p), E0413, "the shape of the blocks of `%s` is not known", p->name);
    diag_help(d, "give it with the argument, or declare `%s: tensordesc[%s, [64, 32]]`", p->name,
              dtype_name(p->binding->dtype));
    return false;
  }
  if (!annotated(e, p, i, &declared))
    return false;
  *ret = declared;
  if (!given || given == declared)
    return true;
  struct diag *d = eval_error(e, here(p), E0413,
                              "`%s` is declared with blocks of %lld elements in dimension %u, but "
                              "given with %lld",
                              p->name, (long long)declared, i, (long long)given);
  diag_help(d, "pass a descriptor with these blocks, or one without");
  return false;
}

static bool find_block(struct eval *e, struct kernel_param *p, struct type pointee, unsigned rank) {
  struct value *shape = arena_array(e->a, struct value, rank);
  for (unsigned i = 0; i < rank; i++) {
    int64_t n;
    if (!dimension(e, p, i, &n))
      return false;
    shape[i] = value_int(n);
  }
  p->pads_nan = p->binding && p->binding->block.pads_nan;
  return descriptor_block(e, (struct operand){value_tuple(shape, rank), here(p)}, pointee,
                          p->pads_nan, &p->block);
}

// ---- the parameters that it becomes ----

static void add_item(struct kernel_param *p, const char *name, struct type type,
                     uint32_t divisible_by) {
  p->items[p->item_count++] = (struct kernel_param){.name = name,
                                                    .ast = p->ast,
                                                    .declared = p->declared,
                                                    .is_runtime = true,
                                                    .type = type,
                                                    .divisible_by = divisible_by};
}

void descriptor_param_resolve(struct eval *e, struct kernel_param *p) {
  struct type pointee, base;
  unsigned rank;
  p->constant = VALUE_ERROR;
  if (!find_type(e, p, &pointee, &rank) || !find_block(e, p, pointee, rank))
    return;
  base = pointee;
  base.ptr = 1;
  p->items = arena_array(e->a, struct kernel_param, 2 * rank);
  add_item(p, p->name, base, DESCRIPTOR_ALIGNMENT);
  p->items[0].descriptor = p;
  for (unsigned i = 0; i < rank; i++) {
    uint32_t by = p->binding ? p->binding->sizes_divisible_by[i] : 1;
    add_item(p, arena_printf(e->a, "%s.shape[%u]", p->name, i), type_scalar(DTYPE_I32),
             by ? by : 1);
  }
  for (unsigned i = 0; i + 1 < rank; i++)
    add_item(p, arena_printf(e->a, "%s.strides[%u]", p->name, i), type_scalar(DTYPE_I64),
             DESCRIPTOR_ALIGNMENT * 8 / dtype_bits(pointee.dtype));
}
