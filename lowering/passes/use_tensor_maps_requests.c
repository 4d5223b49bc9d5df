// SPDX-License-Identifier: Apache-2.0
// Attributes of loops that the front end attaches (lang/emit/emit_loop.c).
#include "lowering/passes/use_tensor_maps_requests.h"

#include "lowering/analysis/liveness.h"

#define SPECIALIZE "tile.warp_specialize"
#define FLATTEN "tile.flatten"
#define TOPIC "descriptors"

// A boolean attribute: 1, 0, or -1 if there is none.
static int said(MlirOperation op, const char *name) {
  return mlirAttributeIsNull(op_attr(op, name)) ? -1 : op_attr_bool(op, name);
}

static int said_by_kernel(struct pass_context *p) {
  return said(mlirModuleGetOperation(p->module), SPECIALIZE);
}

const char *warps_refused(struct pass_context *p) {
  return said_by_kernel(p) == 0 ? "the kernel's option `warp_specialize` is off" : NULL;
}

const char *load_refuses_warps(struct pass_context *p, MlirOperation load) {
  int answer = said_by_kernel(p);
  for (MlirOperation at = mlirOperationGetParentOperation(load);
       answer < 0 && !mlirOperationIsNull(at); at = mlirOperationGetParentOperation(at))
    answer = op_is_loop(p->c, at) ? said(at, SPECIALIZE) : -1;
  return answer == 0 ? "its loop has `warp_specialize=False`" : NULL;
}

// ---- remarks ----

struct requests {
  struct pass_context *p;
  const char *why;
  bool any_loop_asks;
};

struct inner_look {
  struct ir_context *c;
  MlirOperation loop;
  bool has_loop;
};

static bool see_inner(MlirOperation op, void *user) {
  struct inner_look *l = user;
  l->has_loop |= op_is_loop(l->c, op) && !mlirOperationEqual(op, l->loop);
  return !l->has_loop;
}

static bool has_inner_loop(struct ir_context *c, MlirOperation loop) {
  struct inner_look l = {.c = c, .loop = loop};
  ir_walk(loop, see_inner, &l);
  return l.has_loop;
}

static void answer_flatten(struct requests *r, MlirOperation loop) {
  if (!has_inner_loop(r->p->c, loop))
    pass_remark(r->p, loop, TOPIC, "`flatten` has no effect: there is no loop in this one");
  else if (!r->why)
    pass_remark(r->p, loop, TOPIC,
                "`flatten` is not needed: the warps that load go on to the next iteration of this "
                "loop by themselves");
  else
    pass_remark(r->p, loop, TOPIC,
                "`flatten` has no effect: the loops stay nested, and loads of the inner one begin "
                "anew in each iteration of this one, because %s",
                r->why);
}

static bool answer(MlirOperation op, void *user) {
  struct requests *r = user;
  bool asks = said(op, SPECIALIZE) == 1 && op_is_loop(r->p->c, op);
  r->any_loop_asks |= asks;
  if (asks && r->why)
    pass_remark(r->p, op, TOPIC, "`warp_specialize` has no effect: %s", r->why);
  if (op_is_loop(r->p->c, op) && said(op, FLATTEN) == 1)
    answer_flatten(r, op);
  return true;
}

void loop_requests_answer(struct pass_context *p, MlirOperation kernel, const char *why) {
  struct requests r = {.p = p, .why = why};
  ir_walk(kernel, answer, &r);
  if (why && !r.any_loop_asks && said_by_kernel(p) == 1)
    pass_remark(p, kernel, TOPIC, "`warp_specialize` has no effect: %s", why);
}
