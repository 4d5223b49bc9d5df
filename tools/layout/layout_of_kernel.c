// SPDX-License-Identifier: Apache-2.0
// The layouts of a kernel's tensors: a table of all, or, with a line, a drawing of each layout of
// the values at that line.
#include "base/file.h"
#include "layouts/attr.h"
#include "lowering/analysis/axis_info.h"
#include "lowering/llvm/emit.h"
#include "tools/layout/layout_values.h"

#include <inttypes.h>
#include <stdlib.h>

enum { LINES_IN_HELP = 16 };

// ---- the spec ----

// Without a trailing word `threads`.
static struct str without_threads(struct str s, bool *ret_by_thread) {
  s = str_trim(s);
  *ret_by_thread = s.len > 8 && str_ends(s, " threads");
  return *ret_by_thread ? str_trim((struct str){s.ptr, s.len - 8}) : s;
}

bool layout_spec_is_kernel(const char *spec) {
  bool by_thread;
  struct str path;
  (void)str_split(without_threads(str_from(spec), &by_thread), ':', &path);
  if (str_ends(path, ".tile") || str_ends(path, ".py") || str_ends(path, ".mlir"))
    return true;
  char name[4096];
  if (path.len == 0 || path.len >= sizeof name)
    return false;
  memcpy(name, path.ptr, path.len);
  name[path.len] = '\0';
  return file_exists(name);
}

static bool parse_number(struct tool *t, struct str text, uint32_t *ret) {
  uint64_t n;
  if (str_to_u64(text, &n) && n >= 1 && n <= UINT32_MAX) {
    *ret = (uint32_t)n;
    return true;
  }
  size_t at = (size_t)(text.ptr - t->o.mode_argument);
  diag_help(diag_error(t->diag, layout_spec_span(t, at), E0740,
                       "`%.*s` is no line or column: they count from 1", STR_ARG(text)),
            "write `--layout FILE`, `--layout FILE:LINE` or `--layout FILE:LINE:COLUMN`");
  return false;
}

static bool parse_spec(struct tool *t, struct layout_spec *ret) {
  struct str path, line, rest, all = str_from(t->o.mode_argument);
  *ret = (struct layout_spec){0};
  rest = str_split(without_threads(all, &ret->by_thread), ':', &path);
  ret->path = arena_strndup(t->arena, path.ptr, path.len);
  if (!rest.ptr)
    return true;
  ret->line_at = (size_t)(rest.ptr - all.ptr);
  rest = str_split(rest, ':', &line);
  return parse_number(t, line, &ret->line) && (!rest.ptr || parse_number(t, rest, &ret->col));
}

// ---- the values ----

struct span location_in_source(struct ir_context *c, const struct source *source,
                               MlirLocation loc) {
  if (mlirLocationIsACallSite(loc)) {
    struct span inner = location_in_source(c, source, mlirLocationCallSiteGetCallee(loc));
    return inner.source ? inner : location_in_source(c, source, mlirLocationCallSiteGetCaller(loc));
  }
  struct span at = loc_to_span(c, loc);
  return at.source && strcmp(at.source->name, source->name) == 0 ? at : SPAN_NONE;
}

static const char *element_name(struct layout_survey *s, MlirType element) {
  if (type_is_ptr(s->c, element))
    return arena_printf(s->arena, "ptr<%s>", dtype_name(dtype_of_mlir(ptr_pointee(s->c, element))));
  return dtype_name(dtype_of_mlir(element));
}

static struct str keep(struct layout_survey *s, struct strbuf *text) {
  struct str kept = {arena_strndup(s->arena, strbuf_cstr(text), text->len), text->len};
  strbuf_finish(text);
  return kept;
}

static bool is_known(const struct layout_survey *s, const struct layout_value *v) {
  for (size_t i = 0; i < s->values.len; i++) {
    const struct layout_value *w = s->values.at[i];
    if (w->at.begin == v->at.begin && w->at.end == v->at.end && strcmp(w->op, v->op) == 0 &&
        mlirTypeEqual(w->type, v->type) && w->vector == v->vector)
      return true;
  }
  return false;
}

static void see_tensor(struct layout_survey *s, MlirOperation op, MlirType type) {
  const struct linear_layout *l = type_is_tensor(type) ? linear_of_type(s->c, type) : NULL;
  struct span at = location_in_source(s->c, s->source, mlirOperationGetLocation(op));
  if (!l || !at.source)
    return;
  struct layout_value v = {.order = (uint32_t)s->values.len, .at = at, .type = type, .layout = *l};
  v.begin = source_line_col(at.source, at.begin);
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  v.op = arena_strndup(s->arena, name.data, name.length); // the name is freed with the context
  if (op_is(s->c, op, OP_TILE_LOAD) || op_is(s->c, op, OP_TILE_STORE))
    v.vector = axis_vector_of(s->axis, op, s->target, l).width;
  if (is_known(s, &v))
    return;
  v.element = element_name(s, element_type(type));
  v.element_bits = type_bits(s->c, element_type(type));
  v.rank = tensor_rank(type);
  struct strbuf text = {.arena = s->arena};
  for (unsigned d = 0; d < v.rank; d++) {
    v.shape[d] = tensor_dim(type, d);
    strbuf_printf(&text, "%" PRId64 "x", v.shape[d]);
  }
  strbuf_puts(&text, v.element);
  v.type_text = keep(s, &text);
  encoding_print(encoding_of_attr(s->c, tensor_encoding(type)), &text);
  v.encoding = keep(s, &text);
  struct layout_value *kept = arena_new(s->arena, struct layout_value);
  *kept = v;
  vec_push(s->arena, &s->values, kept);
}

static bool see_operation(MlirOperation op, void *user) {
  struct layout_survey *s = user;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    see_tensor(s, op, mlirValueGetType(mlirOperationGetResult(op, i)));
  if (op_is(s->c, op, OP_TILE_STORE))
    see_tensor(s, op, mlirValueGetType(mlirOperationGetOperand(op, 1)));
  return true;
}

static int by_location(const void *a, const void *b) {
  const struct layout_value *v = *(struct layout_value *const *)a,
                            *w = *(struct layout_value *const *)b;
  if (v->begin.line != w->begin.line)
    return v->begin.line < w->begin.line ? -1 : 1;
  if (v->begin.col != w->begin.col)
    return v->begin.col < w->begin.col ? -1 : 1;
  return v->order < w->order ? -1 : v->order > w->order;
}

void layout_survey_module(void *user, struct ir_context *c, MlirModule module) {
  struct layout_survey *s = user;
  s->c = c;
  s->axis = axis_analyse(c, mlirModuleGetOperation(module), s->arena);
  ir_walk(mlirModuleGetOperation(module), see_operation, s);
  if (s->values.len)
    qsort(s->values.at, s->values.len, sizeof *s->values.at, by_location);
}

static bool compile(struct tool *t, struct layout_survey *s) {
  bool mlir = str_ends(str_from(s->source->name), ".mlir");
  struct compile_request r = {.source = s->source,
                              .kernel = t->o.kernel,
                              .target =
                                  mlir && !t->o.target ? target_find(STR("sm_80")) : tool_target(t),
                              .num_warps = t->o.num_warps,
                              .num_stages = t->o.num_stages,
                              .emit = EMIT_TILEGPU,
                              .check = t->o.check,
                              .debug = t->o.check,
                              .passes = t->o.passes,
                              .folders = t->o.folders.at,
                              .folder_count = t->o.folders.len,
                              .inspect = layout_survey_module,
                              .inspect_user = s};
  struct compile_result result = {0};
  s->target = r.target;
  return tool_bindings(t, &r.bindings, &r.binding_count) &&
         (mlir ? compile_mlir : compile_kernel)(t->arena, t->diag, &r, &result);
}

// ---- the location ----

static bool spans_location(const struct layout_value *v, const struct layout_spec *spec) {
  if (v->begin.line != spec->line || spec->col == 0)
    return v->begin.line == spec->line;
  return v->begin.col <= spec->col && v->at.end - v->at.begin > spec->col - v->begin.col;
}

// Selects the values at the location. With a column: those that begin there, or else the smallest
// expressions around it.
static void select_values(struct layout_survey *s, const struct layout_spec *spec) {
  uint32_t smallest = UINT32_MAX;
  bool exact = false;
  for (size_t i = 0; i < s->values.len; i++) {
    const struct layout_value *v = s->values.at[i];
    if (!spans_location(v, spec))
      continue;
    exact |= v->begin.col == spec->col;
    smallest = v->at.end - v->at.begin < smallest ? v->at.end - v->at.begin : smallest;
  }
  size_t n = 0;
  for (size_t i = 0; i < s->values.len; i++) {
    struct layout_value *v = s->values.at[i];
    if (spans_location(v, spec) &&
        (spec->col == 0 ||
         (exact ? v->begin.col == spec->col : v->at.end - v->at.begin == smallest)))
      s->values.at[n++] = v;
  }
  s->values.len = n;
}

// "7, 8 and 11": the lines with tensors, or the columns of one line.
static const char *lines_with_tensors(struct layout_survey *s, uint32_t line) {
  struct strbuf text = {.arena = s->arena};
  uint32_t last = 0, shown = 0;
  for (size_t i = 0; i < s->values.len && shown <= LINES_IN_HELP; i++) {
    const struct layout_value *v = s->values.at[i];
    uint32_t location = line ? v->begin.col : v->begin.line;
    if ((line && v->begin.line != line) || location == last)
      continue;
    last = location;
    if (++shown > LINES_IN_HELP)
      strbuf_puts(&text, ", ...");
    else
      strbuf_printf(&text, "%s%u", shown > 1 ? ", " : "", location);
  }
  return keep(s, &text).ptr;
}

static int no_tensors(struct tool *t, struct layout_survey *s, const struct layout_spec *spec) {
  if (spec->line == 0) {
    diag_error(t->diag, layout_spec_span(t, 0), E0741, "the kernel has no tensors with a layout");
    return EXIT_WRONG;
  }
  struct span at = layout_spec_span(t, spec->line_at);
  const char *columns = spec->col ? lines_with_tensors(s, spec->line) : "";
  const char *lines = lines_with_tensors(s, 0);
  struct diag *d =
      spec->col ? diag_error(t->diag, at, E0741, "no tensor is made at line %u, column %u of `%s`",
                             spec->line, spec->col, spec->path)
                : diag_error(t->diag, at, E0741, "no tensor is made on line %u of `%s`", spec->line,
                             spec->path);
  if (*columns)
    diag_help(d, "columns of line %u that have some: %s", spec->line, columns);
  else if (*lines)
    diag_help(d, "lines that have some: %s; `--layout %s` lists the tensors", lines, spec->path);
  else
    diag_help(d, "the kernel has no tensors with a layout at all");
  return EXIT_WRONG;
}

int layout_of_kernel(struct tool *t) {
  struct layout_spec spec;
  int status;
  if (!parse_spec(t, &spec))
    return EXIT_WRONG;
  bool picture = !t->o.json && t->o.output && str_ends(str_from(t->o.output), ".svg");
  if (picture && !spec.line) {
    diag_help(diag_error(t->diag, layout_spec_span(t, 0), E0703,
                         "a picture shows one layout, not those of a whole kernel"),
              "add a line: `--layout %s:LINE`; without `-o` the tensors are listed", spec.path);
    return EXIT_USAGE;
  }
  t->o.file = spec.path;
  t->o.file_at = layout_spec_span(t, 0);
  struct layout_survey s = {.arena = t->arena, .source = tool_source(t, &status)};
  if (!s.source)
    return status;
  if (!compile(t, &s))
    return tool_error_status(t);
  size_t all = s.values.len;
  struct layout_value **values = arena_array(t->arena, struct layout_value *, all + 1);
  if (all)
    memcpy(values, s.values.at, all * sizeof *values);
  if (spec.line)
    select_values(&s, &spec);
  if (s.values.len)
    return layout_values_write(t, &s, &spec, picture);
  s.values.at = values;
  s.values.len = all;
  return no_tensors(t, &s, &spec);
}

struct span layout_spec_span(const struct tool *t, size_t at) {
  struct span all = t->o.mode_at;
  size_t length = strlen(t->o.mode_argument);
  if (!all.source)
    return all;
  if (all.begin + length > all.source->text.len ||
      memcmp(all.source->text.ptr + all.begin, t->o.mode_argument, length) != 0)
    return all;
  uint32_t begin = all.begin + (uint32_t)(at < length ? at : length);
  uint32_t end = begin;
  while (end < all.begin + length && all.source->text.ptr[end] != ' ')
    end++;
  return (struct span){all.source, begin, end};
}
