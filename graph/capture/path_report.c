// SPDX-License-Identifier: Apache-2.0
// The report about values that captured functions ask for.
#include "graph/capture/function_internal.h"
#include "graph/ir/graph_operators.h"
#include "graph/run/handle.h"

#include <inttypes.h>

static void print_item(const struct path_step *s, struct strbuf *out) {
  strbuf_printf(out, "`%s` ", s->item->name);
  value_type_print(s->item, false, out);
  if (s->item->def)
    strbuf_printf(out, " of %s", operator_row(s->item->def->op)->name);
}

// Recursion is over answers: a call has at most a few thousand.
static void print_step(const struct path_step *s, unsigned depth, struct strbuf *out) {
  strbuf_printf(out, "%*s", (int)(2 * depth), "");
  if (s->parent)
    strbuf_printf(out, "%.9g: ", dtype_load(s->parent->item->dtype, &s->answer));
  strbuf_printf(out, "%zu launches, %" PRIu64 " calls", s->program->program->launches.len,
                s->calls);
  if (s->item) {
    strbuf_puts(out, ", then it asks for ");
    print_item(s, out);
  }
  strbuf_putc(out, '\n');
  for (size_t i = 0; i < s->next_count; i++)
    print_step(s->next[i], depth + 1, out);
}

static void print(const tile_captured *f, struct strbuf *out) {
  for (size_t i = 0; i < f->variant_count; i++) {
    const struct variant *v = f->variants[i];
    if (!v->first) {
      strbuf_printf(out, "variant %zu: one program, it asks for no values\n", i + 1);
      continue;
    }
    strbuf_printf(out, "variant %zu: %zu paths", i + 1, v->path_count);
    if (v->dropped)
      strbuf_printf(out,
                    "; %" PRIu64 " calls took other paths, which were compiled for them alone: the "
                    "limit is %zu (tile_captured_set_path_limit)",
                    v->dropped, f->path_limit);
    strbuf_putc(out, '\n');
    print_step(v->first, 1, out);
  }
}

tile_status tile_captured_report(tile_captured *f, const char **ret_report) {
  if (!f || !ret_report)
    return status_set(TILE_INVALID_ARGUMENT, "a report needs a function and a result");
  tile_status s = TILE_OK;
  jmp_buf out_of_memory;
  pthread_mutex_lock(&f->lock);
  if (f->report)
    arena_destroy(f->report);
  f->report = arena_create();
  if (!f->report || setjmp(out_of_memory)) {
    s = status_set(TILE_OUT_OF_MEMORY, "out of memory for a report");
  } else {
    struct strbuf out = {.arena = f->report};
    arena_set_oom(f->report, &out_of_memory);
    print(f, &out);
    *ret_report = strbuf_cstr(&out);
    arena_set_oom(f->report, NULL);
  }
  pthread_mutex_unlock(&f->lock);
  return s;
}
