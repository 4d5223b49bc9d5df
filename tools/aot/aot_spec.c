// SPDX-License-Identifier: Apache-2.0
// Parameters of functions and their specialisations: the parameters come from one compilation
// without further hints; each --spec adds a set of hints, and the sets are sorted so that more
// specific ones come first.
#include "jit/grid_expr.h"
#include "lowering/analysis/provenance.h"
#include "tools/aot/aot.h"

// ---- parameters ----

// Which pointer parameters a kernel never writes through.
struct writes {
  struct ir_context *c;
  bool *is_written; // by parameter
  uint32_t count;
  bool unknown; // an address reaches an operation that is not analysed
};

static bool see_write(MlirOperation op, void *user) {
  struct writes *w = user;
  enum op_id id = op_id(w->c, op);
  if (id == OP_UNKNOWN || id == OP_FUNC_CALL || id == OP_TILE_PTR_TO_INT ||
      id == OP_TILE_INLINE_ASM || id == OP_TILE_BITCAST) {
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
      w->unknown |=
          id == OP_FUNC_CALL ||
          type_is_ptr(w->c, element_type(mlirValueGetType(mlirOperationGetOperand(op, i))));
    return true;
  }
  if (!(op_flags(w->c, op) & OP_WRITE))
    return true;
  for (intptr_t i = 1; i < mlirOperationGetNumOperands(op); i++) // the address itself is stored
    w->unknown |= type_is_ptr(w->c, element_type(mlirValueGetType(mlirOperationGetOperand(op, i))));
  int param = pointer_argument(w->c, mlirOperationGetOperand(op, 0));
  if (param < 0 || (uint32_t)param >= w->count)
    w->unknown = true;
  else
    w->is_written[param] = true;
  return true;
}

struct written {
  struct arena *arena;
  struct writes writes;
};

enum { MAX_POINTERS = 4096 };

static void find_writes(void *user, struct ir_context *c, MlirModule module) {
  struct written *w = user;
  w->writes = (struct writes){
      .c = c, .is_written = arena_array(w->arena, bool, MAX_POINTERS), .count = MAX_POINTERS};
  ir_walk(mlirModuleGetOperation(module), see_write, &w->writes);
}

static bool has_distinct_names(struct aot *a, const struct aot_function *f) {
  struct arena *arena = a->tool->arena;
  const char **names = arena_array(arena, const char *, f->info.param_count + 1);
  for (uint32_t i = 0; i < f->info.param_count; i++) {
    names[i] = aot_c_name(arena, f->info.params[i].name);
    for (uint32_t k = 0; k < i; k++)
      if (strcmp(names[k], names[i]) == 0) {
        diag_error(a->tool->diag, f->at, E0753, "`%s` has two arguments `%s` in C", f->name,
                   names[i]);
        return false;
      }
  }
  return true;
}

static bool describe(struct aot *a, struct aot_function *f) {
  struct tool *t = a->tool;
  struct written w = {.arena = t->arena};
  struct compile_request r = {.source = a->source,
                              .kernel = f->kernel,
                              .bindings = f->bindings.at,
                              .binding_count = f->bindings.len,
                              .target = a->targets.at[0],
                              .num_warps = f->num_warps,
                              .num_stages = f->num_stages,
                              .max_registers = f->max_registers,
                              .num_ctas = f->num_ctas,
                              .warp_specialize = f->warp_specialize,
                              .launch_pdl = t->o.launch_pdl,
                              .emit = EMIT_TILEGPU,
                              .passes = t->o.passes,
                              .folders = t->o.folders.at,
                              .folder_count = t->o.folders.len,
                              .static_print = &t->log,
                              .inspect = find_writes,
                              .inspect_user = &w};
  struct compile_result result = {0};
  if (!compile_kernel(t->arena, t->diag, &r, &result))
    return false;
  f->info = result.info;
  if (f->info.param_count > PACK_MAX_PARAMS) {
    diag_error(t->diag, f->at, E0753, "`%s` takes %u arguments; a pack has room for %d", f->name,
               f->info.param_count, PACK_MAX_PARAMS);
    return false;
  }
  for (uint32_t i = 0; i < f->info.param_count; i++) {
    struct kernel_param *p = &f->info.params[i];
    if (p->is_pointer && !w.writes.unknown && !w.writes.is_written[i])
      p->is_const = true;
    p->divisible_by += p->divisible_by == 0;
  }
  return has_distinct_names(a, f);
}

// ---- specialisations ----

static bool wrong_spec(struct aot *a, const struct word *w, struct str part, const char *why) {
  diag_help(diag_error(a->tool->diag, tool_part(w, part), E0754, "`%.*s`: %s", STR_ARG(part), why),
            "such as `--spec 'x:16,n:16'`, or for one function `--spec 'add:n:1'`");
  return false;
}

// The function named before `:`; NULL: all. False after an error.
static bool split_function(struct aot *a, const struct word *w, bool is_prefix, struct str *rest,
                           struct aot_function **ret) {
  *ret = NULL;
  *rest = w->value;
  if (!is_prefix)
    return true;
  struct str name;
  *rest = str_split(w->value, ':', &name);
  name = str_trim(name);
  const char **names = arena_array(a->tool->arena, const char *, a->functions.len + 1);
  for (size_t i = 0; i < a->functions.len; i++) {
    names[i] = a->functions.at[i].name;
    if (str_is(name, names[i])) {
      *ret = &a->functions.at[i];
      return true;
    }
  }
  struct diag *d = diag_error(a->tool->diag, tool_part(w, name), E0753,
                              "the pack has no function `%.*s`", STR_ARG(name));
  const char *near = str_nearest(name, names, a->functions.len);
  if (near)
    diag_did_you_mean(d, tool_part(w, name), near);
  return false;
}

static unsigned colons(struct str s) {
  unsigned n = 0;
  for (size_t i = 0; i < s.len; i++)
    n += s.ptr[i] == ':';
  return n;
}

// Index of the parameter, or param_count.
static uint32_t find_param(const struct aot_function *f, struct str name) {
  uint32_t i = 0;
  while (i < f->info.param_count && !str_is(name, f->info.params[i].name))
    i++;
  return i;
}

// Whether the parameter is a size or a stride of a tensor descriptor.
static bool is_descriptor_part(const struct aot_function *f, uint32_t i) {
  uint32_t at = 0;
  while (at < i)
    at += kernel_param_span(&f->info.params[at]);
  return at > i;
}

// `a:16` is about all sizes of the descriptor `a`, `a.shape[1]:16` about one.
static bool descriptor_hint(struct aot *a, const struct word *w, const struct aot_function *f,
                            uint32_t i, struct str entry, uint32_t n, uint32_t *hints) {
  uint32_t rank = f->info.params[i].descriptor_rank, first = rank ? i + 1 : i;
  if (n == 1 || f->info.params[first].dtype != DTYPE_I32)
    return wrong_spec(a, w, entry,
                      "promises about a tensor descriptor are that 2 or more divides its sizes");
  for (uint32_t k = first; k < first + (rank ? rank : 1); k++)
    hints[k] = n > hints[k] ? n : hints[k];
  return true;
}

// One hint into `hints`; *ret_applies if the function has the parameter.
static bool read_hint(struct aot *a, const struct word *w, const struct aot_function *f,
                      struct str entry, uint32_t *hints, bool *ret_applies) {
  struct str name, text = str_split(entry, ':', &name);
  uint64_t n;
  if (!text.ptr || !str_to_u64(text, &n) || !is_pow2(n) || n > (1u << 20))
    return wrong_spec(a, w, entry, "a promise is NAME:1 or NAME:N with a power of two");
  uint32_t i = find_param(f, name);
  *ret_applies = i < f->info.param_count;
  if (!*ret_applies)
    return true;
  const struct kernel_param *p = &f->info.params[i];
  if (p->descriptor_rank || is_descriptor_part(f, i))
    return descriptor_hint(a, w, f, i, entry, (uint32_t)n, hints);
  if (!p->is_pointer && (!dtype_is_int(p->dtype) || p->dtype == DTYPE_I1))
    return wrong_spec(a, w, entry, "promises are about pointers and integers");
  if (n == 1 && p->is_pointer)
    return wrong_spec(a, w, entry, "an address is never 1");
  if (n == 1)
    hints[i] = 0;
  else if (n > hints[i])
    hints[i] = (uint32_t)n;
  return true;
}

static void add_variant(struct aot *a, struct aot_function *f, uint32_t *hints) {
  for (size_t v = 0; v < f->variants.len; v++)
    if (memcmp(f->variants.at[v].hints, hints, f->info.param_count * sizeof *hints) == 0)
      return;
  struct aot_variant v = {.hints = hints};
  vec_push(a->tool->arena, &f->variants, v);
}

static uint32_t *general_hints(struct aot *a, const struct aot_function *f) {
  uint32_t *hints = arena_array(a->tool->arena, uint32_t, f->info.param_count + 1);
  for (uint32_t i = 0; i < f->info.param_count; i++)
    hints[i] = f->info.params[i].divisible_by;
  return hints;
}

static bool apply_spec(struct aot *a, const struct word *w, struct str entries,
                       struct aot_function *f, bool *ret_used) {
  uint32_t *hints = general_hints(a, f);
  bool any = false;
  struct str entry;
  while (tool_next_entry(&entries, &entry)) {
    bool applies = false;
    if (!read_hint(a, w, f, entry, hints, &applies))
      return false;
    any |= applies;
  }
  *ret_used |= any;
  if (any)
    add_variant(a, f, hints);
  return true;
}

static bool read_spec(struct aot *a, const struct word *w) {
  struct str first, rest = w->value, entries;
  struct aot_function *only;
  if (!tool_next_entry(&rest, &first))
    return wrong_spec(a, w, w->value, "nothing is promised");
  if (!split_function(a, w, colons(first) > 1, &entries, &only))
    return false;
  bool used = false;
  for (size_t i = 0; i < a->functions.len; i++)
    if ((!only || only == &a->functions.at[i]) &&
        !apply_spec(a, w, entries, &a->functions.at[i], &used))
      return false;
  return used || wrong_spec(a, w, entries, "no function has such a parameter at run time");
}

// A set of hints that implies another one has a higher score.
static unsigned score(const struct aot_function *f, const struct aot_variant *v) {
  unsigned n = 0;
  for (uint32_t i = 0; i < f->info.param_count; i++)
    n += v->hints[i] ? log2_floor(v->hints[i]) : 64;
  return n;
}

static void sort_variants(struct aot_function *f) {
  for (size_t i = 1; i < f->variants.len; i++)
    for (size_t k = i; k > 0 && score(f, &f->variants.at[k - 1]) < score(f, &f->variants.at[k]);
         k--) {
      struct aot_variant v = f->variants.at[k];
      f->variants.at[k] = f->variants.at[k - 1];
      f->variants.at[k - 1] = v;
    }
}

bool aot_describe(struct aot *a) {
  for (size_t i = 0; i < a->functions.len; i++)
    if (!describe(a, &a->functions.at[i]))
      return false;
  for (size_t i = 0; i < a->tool->o.specs.len; i++)
    if (!read_spec(a, &a->tool->o.specs.at[i]))
      return false;
  for (size_t i = 0; i < a->functions.len; i++) {
    struct aot_function *f = &a->functions.at[i];
    add_variant(a, f, general_hints(a, f)); // last: for all other calls
    sort_variants(f);
  }
  return true;
}

// ---- grids ----

static bool grid_of(struct aot *a, struct aot_function *f, struct span where) {
  struct arena *arena = a->tool->arena;
  size_t capacity = f->info.param_count + f->bindings.len + f->declared_count + 1, n = 0;
  const char **names = arena_array(arena, const char *, capacity);
  const char **codes = arena_array(arena, const char *, capacity);
  int64_t *values = arena_array(arena, int64_t, capacity);
  for (size_t i = 0; i < f->bindings.len; i++) {
    const struct lang_binding *b = &f->bindings.at[i];
    bool is_number = b->kind == BIND_CONSTANT && str_to_i64(str_from(b->text), &values[n]);
    if (b->is_one)
      values[n] = 1;
    if (is_number || b->is_one)
      names[n++] = b->name;
  }
  for (uint32_t i = 0; i < f->info.param_count; i++) {
    const struct kernel_param *p = &f->info.params[i];
    for (uint32_t k = 0; k < p->descriptor_rank; k++) {
      codes[n] = arena_printf(arena, "(%s ? %s->shape[%u] : 0)", aot_c_name(arena, p->name),
                              aot_c_name(arena, p->name), k);
      names[n++] = f->info.params[i + 1 + k].name;
    }
    if (p->is_pointer || !dtype_is_int(p->dtype) || is_descriptor_part(f, i))
      continue;
    codes[n] = arena_printf(arena, "(int64_t)%s", aot_c_name(arena, p->name));
    names[n++] = p->name;
  }
  for (size_t i = 0; i < f->declared_count; i++) // after -D: the first of a name wins
    if (f->declared[i].is_constexpr && tool_default_value(&f->declared[i], &values[n]))
      names[n++] = f->declared[i].name;
  struct grid_names known = {names, values, n, codes};
  f->grid_text =
      arena_strndup(arena, where.source->text.ptr + where.begin, where.end - where.begin);
  return grid_expr_to_c(arena, a->tool->diag, where, &known, f->grid);
}

bool aot_grids(struct aot *a) {
  for (size_t i = 0; i < a->tool->o.grids.len; i++) {
    const struct word *w = &a->tool->o.grids.at[i];
    struct aot_function *only;
    struct str text;
    if (!split_function(a, w, colons(w->value) > 0, &text, &only))
      return false;
    if (!only && a->functions.len > 1) {
      diag_help(diag_error(a->tool->diag, w->where, E0724, "whose grid is this?"),
                "write `--grid '%s:%.*s'`", a->functions.at[0].name, STR_ARG(text));
      return false;
    }
    if (!grid_of(a, only ? only : &a->functions.at[0], tool_part(w, text)))
      return false;
  }
  return true;
}
