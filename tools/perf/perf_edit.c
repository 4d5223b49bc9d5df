// SPDX-License-Identifier: Apache-2.0
// Parameters with a type in the source get a hint behind it, others an option; loaded values are
// wrapped in `multiple_of`.
#include "tools/perf/perf_edit.h"

#include <stdlib.h>
#include <string.h>

enum { PROMISE = 16 }; // what launches specialise on: bytes of pointers, multiples of integers

struct editor {
  struct arena *a;
  const struct source *source;
  const struct lang_param *params;
  size_t param_count;
  struct perf_edit *e;
};

static const struct lang_param *param_named(const struct editor *x, const char *name) {
  for (size_t i = 0; i < x->param_count; i++)
    if (strcmp(x->params[i].name, name) == 0)
      return &x->params[i];
  return NULL;
}

// The request's binding of that parameter, in a copy that may be changed; NULL: it has none.
static struct lang_binding *binding_named(struct editor *x, const char *name) {
  for (size_t i = 0; i < x->e->request.binding_count; i++)
    if (strcmp(x->e->request.bindings[i].name, name) == 0)
      return &x->e->request.bindings[i];
  return NULL;
}

static void insert(struct editor *x, uint32_t at, const char *text) {
  struct perf_insertion i = {at, text};
  vec_push(x->a, &x->e->insertions, i);
}

static void add_signature(struct editor *x, const struct lang_binding *b) {
  strbuf_puts(&x->e->option, x->e->option.len ? "," : "--signature ");
  strbuf_printf(&x->e->option, "%s=%s%s:%u", b->name, b->kind == BIND_POINTER ? "*" : "",
                dtype_name(b->dtype), b->is_one ? 1 : b->divisible_by);
}

static bool promise_by_binding(struct editor *x, struct lang_binding *b, bool is_one) {
  if (b->kind != BIND_SCALAR && b->kind != BIND_POINTER)
    return false;
  b->is_one = is_one;
  b->divisible_by = b->divisible_by > PROMISE ? b->divisible_by : PROMISE;
  add_signature(x, b);
  return true;
}

static bool edit_parameter(struct editor *x, const struct perf_cause *cause) {
  const struct lang_param *p = param_named(x, cause->parameter);
  struct lang_binding *b = binding_named(x, cause->parameter);
  bool is_one = cause->kind == NARROW_STRIDE;
  if (b)
    return promise_by_binding(x, b, is_one);
  if (!p || !p->is_typed || p->is_descriptor || p->is_constexpr ||
      p->annotation.source != x->source)
    return false;
  if (!is_one && p->divisible_by == 1) {
    insert(x, p->annotation.end, arena_printf(x->a, " %% %d", PROMISE));
    return true;
  }
  struct compile_request *r = &x->e->request;
  r->bindings[r->binding_count] =
      (struct lang_binding){.name = p->name,
                            .kind = p->is_pointer ? BIND_POINTER : BIND_SCALAR,
                            .dtype = p->dtype,
                            .divisible_by = 1};
  return promise_by_binding(x, &r->bindings[r->binding_count++], is_one);
}

// `tl.load(...)` becomes `tl.multiple_of(tl.load(...), 4)`.
static bool edit_load(struct editor *x, const struct perf_cause *cause) {
  if (cause->load.source != x->source)
    return false;
  struct str text = {x->source->text.ptr + cause->load.begin, cause->load.end - cause->load.begin};
  struct str callee;
  if (!str_split(text, '(', &callee).ptr)
    return false;
  size_t module = callee.len; // of `tl.`
  while (module && callee.ptr[module - 1] != '.')
    module--;
  insert(x, cause->load.begin, arena_printf(x->a, "%.*smultiple_of(", (int)module, callee.ptr));
  insert(x, cause->load.end, arena_printf(x->a, ", %u)", cause->multiple));
  return true;
}

static int by_offset(const void *x, const void *y) {
  const struct perf_insertion *a = x, *b = y;
  return a->at < b->at ? -1 : a->at > b->at;
}

static struct source *edited_source(struct editor *x) {
  struct strbuf text = {.arena = x->a};
  uint32_t from = 0;
  for (size_t i = 0; i < x->e->insertions.len; i++) {
    const struct perf_insertion *n = &x->e->insertions.at[i];
    strbuf_put(&text, x->source->text.ptr + from, n->at - from);
    strbuf_puts(&text, n->text);
    from = n->at;
  }
  strbuf_put(&text, x->source->text.ptr + from, x->source->text.len - from);
  return source_create(x->a, x->source->name, (struct str){strbuf_cstr(&text), text.len});
}

bool perf_edit_make(struct arena *a, const struct compile_request *request,
                    const struct lang_param *params, size_t param_count,
                    const struct perf_cause *const *causes, size_t count, struct perf_edit *ret) {
  *ret = (struct perf_edit){.request = *request, .option = {.arena = a}};
  struct editor x = {a, request->source, params, param_count, ret};
  struct lang_binding *bindings =
      arena_array(a, struct lang_binding, request->binding_count + count + 1);
  for (size_t i = 0; i < request->binding_count; i++)
    bindings[i] = request->bindings[i];
  ret->request.bindings = bindings;
  for (size_t i = 0; i < count; i++) {
    if (causes[i]->num_warps) {
      ret->request.num_warps = causes[i]->num_warps;
      strbuf_printf(&ret->option, "--num-warps %u", causes[i]->num_warps);
    } else if (!(causes[i]->parameter ? edit_parameter : edit_load)(&x, causes[i])) {
      return false;
    }
  }
  if (ret->insertions.len) {
    qsort(ret->insertions.at, ret->insertions.len, sizeof ret->insertions.at[0], by_offset);
    ret->request.source = edited_source(&x);
    ret->request.unit = NULL;
  }
  return true;
}

void perf_edit_lines(struct arena *a, const struct source *source, const struct perf_edit *e,
                     struct perf_advice *ret) {
  for (size_t i = 0; i < e->insertions.len;) {
    uint32_t number = source_line_col(source, e->insertions.at[i].at).line;
    struct str old = source_line(source, number);
    uint32_t begin = (uint32_t)(old.ptr - source->text.ptr), from = begin;
    struct strbuf text = {.arena = a};
    struct perf_line line = {.number = number};
    for (; i < e->insertions.len && e->insertions.at[i].at <= begin + old.len; i++) {
      const struct perf_insertion *n = &e->insertions.at[i];
      strbuf_put(&text, source->text.ptr + from, n->at - from);
      struct span added = {.begin = (uint32_t)text.len};
      strbuf_puts(&text, n->text);
      added.end = (uint32_t)text.len;
      vec_push(a, &line.added, added);
      from = n->at;
    }
    strbuf_put(&text, source->text.ptr + from, begin + old.len - from);
    line.text = (struct str){strbuf_cstr(&text), text.len};
    vec_push(a, &ret->lines, line);
  }
}
