// SPDX-License-Identifier: Apache-2.0
// The pass manager: checks what a pass needs, runs it, verifies, prints, dumps, times. Passes
// are called from here alone.
#include "base/clock.h"
#include "base/debug.h"
#include "base/file.h"
#include "base/trace.h"
#include "lowering/analysis/ring_protocol.h"
#include "lowering/analysis/scratch.h"
#include "lowering/pass.h"

#include <assert.h>

// The build's option check_passes: each pass is followed by the verifier, and the IR after a pass
// that returns "unchanged" is compared with the IR before.
#ifdef TILE_CHECK_PASSES
enum { CHECK_PASSES = true };
#else
enum { CHECK_PASSES = false };
#endif

static const struct pass passes[] = {
#define PASS(id, flag, doc, needs, gives, breaks) {flag, doc, pass_##id, needs, gives, breaks},
#include "lowering/passes.def"
#undef PASS
};

static const char *const flags[] = {
#define PASS(id, flag, doc, needs, gives, breaks) flag,
#include "lowering/passes.def"
#undef PASS
};

const struct pass *pass_info(enum pass_id id) { return &passes[id]; }

bool pass_find(struct str flag, enum pass_id *ret) {
  for (int i = 0; i < PASS_COUNT; i++)
    if (str_is(flag, passes[i].flag)) {
      *ret = (enum pass_id)i;
      return true;
    }
  return false;
}

void pass_remark(struct pass_context *p, MlirOperation op, const char *topic, const char *fmt,
                 ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = arena_vprintf(p->c->arena, fmt, ap);
  va_end(ap);
  diag_remark(p->c->diag, op_span(p->c, op), topic, "%s", text);
}

// ---- names given by the user ----

// The pass of that name, or false with a diagnostic.
static bool find_named(struct pass_context *p, struct str name, enum pass_id *ret) {
  if (pass_find(name, ret))
    return true;
  struct diag *d = diag_error(p->c->diag, SPAN_NONE, E0603, "unknown pass `%.*s`", STR_ARG(name));
  const char *near = str_nearest(name, flags, COUNT_OF(flags));
  if (near)
    diag_help(d, "did you mean `%s`?", near);
  else
    diag_help(d, "`tilec --list-passes` lists them");
  return false;
}

static bool check_names(struct pass_context *p, const struct pass_options *o) {
  enum pass_id id;
  struct str after = str_from(o->print_after);
  if (after.ptr && !str_is(after, "all") && !str_is(after, "change") && !find_named(p, after, &id))
    return false;
  return !o->stop_after || find_named(p, str_from(o->stop_after), &id);
}

// "a,b" as ids on the context's arena.
static bool parse_only(struct pass_context *p, const char *only, const enum pass_id **ret,
                       size_t *ret_count) {
  size_t capacity = strlen(only) + 1, n = 0;
  enum pass_id *ids = arena_array(p->c->arena, enum pass_id, capacity);
  for (struct str rest = str_from(only), name; rest.ptr && rest.len;) {
    rest = str_split(rest, ',', &name);
    name = str_trim(name);
    if (name.len && !find_named(p, name, &ids[n++]))
      return false;
  }
  *ret = ids;
  *ret_count = n;
  return true;
}

// ---- services around a pass ----

static void print_after(struct pass_context *p, const struct pass_options *o,
                        const struct pass *pass, enum pass_result result) {
  struct str wanted = str_from(o->print_after);
  if (!wanted.ptr || !o->log)
    return;
  if (!str_is(wanted, "all") && !str_is(wanted, pass->flag) &&
      !(str_is(wanted, "change") && result == PASS_CHANGED))
    return;
  strbuf_printf(o->log, "// ---- after %s%s ----\n", pass->flag,
                result == PASS_CHANGED ? "" : " (unchanged)");
  ir_print(mlirModuleGetOperation(p->module), false, o->log);
}

// DIR/NN-pass.mlir. False with a diagnostic.
static bool dump(struct pass_context *p, const struct pass_options *o, size_t index,
                 const struct pass *pass) {
  if (!o->dump_dir)
    return true;
  struct strbuf text = {.arena = p->c->arena};
  ir_print(mlirModuleGetOperation(p->module), true, &text);
  const char *path =
      arena_printf(p->c->arena, "%s/%02zu-%s.mlir", o->dump_dir, index + 1, pass->flag);
  int error = dir_create(o->dump_dir, 0777);
  if (error == 0)
    error = file_write(path, strbuf_cstr(&text), text.len);
  strbuf_finish(&text);
  if (error != 0)
    diag_error(p->c->diag, SPAN_NONE, E0711, "cannot write `%s`: %s", path, strerror(error));
  return error == 0;
}

// ---- running ----

struct run {
  struct pass_context *p;
  const struct pass_options *o;
  unsigned facts;
};

struct layout_census {
  size_t with, without; // tiles
};

static bool count_layouts(MlirOperation op, void *user) {
  struct layout_census *n = user;
  for (intptr_t i = 0, count = mlirOperationGetNumResults(op); i < count; i++) {
    MlirType t = mlirValueGetType(mlirOperationGetResult(op, i));
    if (!type_is_tensor(t))
      continue;
    n->with += !mlirAttributeIsNull(tensor_encoding(t));
    n->without += mlirAttributeIsNull(tensor_encoding(t));
  }
  return true;
}

// Facts of the module before the first pass: with --passes it may be the output of others.
static unsigned facts_of(MlirModule m) {
  struct layout_census n = {0, 0};
  ir_walk(mlirModuleGetOperation(m), count_layouts, &n);
  return (n.with ? 0u : FACT_TILE) | (n.without ? 0u : FACT_LAYOUTS) |
         (scratch_total(m) < 0 ? 0u : FACT_PLACED);
}

static const char *fact_text(unsigned facts) {
  if (facts & FACT_TILE)
    return "tiles without layouts";
  if (facts & FACT_PLACED)
    return "offsets in shared memory";
  return facts & FACT_LAYOUTS ? "a layout for every tile" : "coalesced memory accesses";
}

// The pass that gives these facts, if there is one.
static const char *giver_of(unsigned facts) {
  for (size_t i = 0; i < COUNT_OF(passes); i++)
    if (passes[i].gives & facts)
      return passes[i].flag;
  return NULL;
}

static bool check_facts(struct run *r, const struct pass *pass) {
  unsigned missing = pass->needs & ~r->facts;
  if (!missing)
    return true;
  struct diag *d = diag_error(r->p->c->diag, SPAN_NONE, E0603, "pass `%s` needs %s", pass->flag,
                              fact_text(missing));
  const char *giver = giver_of(missing);
  if (giver)
    diag_help(d, "run `%s` before it", giver);
  else
    diag_help(d, "run it before `%s`", giver_of(FACT_LAYOUTS));
  return false;
}

// A pass that returns "unchanged" must not have touched the module.
static bool run_checked(struct run *r, const struct pass *pass, enum pass_result *ret) {
  if (!CHECK_PASSES && !debug_on(DEBUG_PASSES)) {
    *ret = pass->run(r->p);
    return true;
  }
  uint64_t before = ir_fingerprint(mlirModuleGetOperation(r->p->module));
  *ret = pass->run(r->p);
  debug_log(DEBUG_PASSES, "%s: %s", pass->flag,
            *ret == PASS_FAILED    ? "failed"
            : *ret == PASS_CHANGED ? "changed"
                                   : "unchanged");
  if (*ret == PASS_UNCHANGED && ir_fingerprint(mlirModuleGetOperation(r->p->module)) != before) {
    diag_error(r->p->c->diag, SPAN_NONE, E0990,
               "pass `%s` changed the IR but returned \"unchanged\"", pass->flag);
    return false;
  }
  return true;
}

static bool verify(struct pass_context *p) {
  MlirOperation module = mlirModuleGetOperation(p->module);
  if (!ir_verify(p->c, module))
    return false;
  struct arena_mark mark = arena_mark(p->scratch);
  bool ok = ring_protocol_check(p->c, module, p->scratch);
  arena_release(p->scratch, mark);
  return ok;
}

static bool run_one(struct run *r, size_t index, enum pass_id id, double *ret_ms) {
  const struct pass *pass = &passes[id];
  if (!check_facts(r, pass))
    return false;
  double start = clock_ms();
  enum pass_result result;
  struct arena_mark mark = arena_mark(r->p->scratch);
  struct trace_slice slice = trace_begin(TRACE_PASS, pass->flag);
  bool ok = run_checked(r, pass, &result);
  trace_end(&slice, NULL);
  arena_release(r->p->scratch, mark);
  *ret_ms = clock_ms() - start;
  if (!ok)
    return false;
  if (result == PASS_FAILED) {
    if (diag_error_count(r->p->c->diag) == 0)
      diag_error(r->p->c->diag, SPAN_NONE, E0990, "pass `%s` failed without saying why",
                 pass->flag);
    return false;
  }
  r->facts = (r->facts & ~pass->breaks) | pass->gives;
  print_after(r->p, r->o, pass, result);
  if (!dump(r->p, r->o, index, pass))
    return false;
  bool verifies = CHECK_PASSES || r->o->verify_each;
  return !verifies || verify(r->p);
}

bool passes_run(struct pass_context *p, const struct pass_options *options, bool *ret_stopped) {
  static const struct pass_options none;
  const struct pass_options *o = options ? options : &none;
  size_t count;
  assert(p->c && p->scratch && p->target && !mlirModuleIsNull(p->module));
  assert(is_pow2(p->num_warps) && p->num_stages > 0);
  const enum pass_id *order = pipeline_passes(o->pipeline, &count);
  if (!check_names(p, o) || (o->only && !parse_only(p, o->only, &order, &count)))
    return false;
  struct run r = {.p = p, .o = o, .facts = facts_of(p->module)};
  double total = 0;
  *ret_stopped = false;
  if (o->time_passes && o->log)
    strbuf_puts(o->log, "     ms  pass\n");
  for (size_t i = 0; i < count; i++) {
    double ms = 0;
    bool ok = run_one(&r, i, order[i], &ms);
    total += ms;
    if (o->time_passes && o->log)
      strbuf_printf(o->log, "%7.3f  %s\n", ms, passes[order[i]].flag);
    if (!ok)
      return false;
    if (o->stop_after && strcmp(o->stop_after, passes[order[i]].flag) == 0) {
      *ret_stopped = true;
      break;
    }
  }
  if (o->time_passes && o->log)
    strbuf_printf(o->log, "%7.3f  all passes\n", total);
  return true;
}
