// SPDX-License-Identifier: Apache-2.0
// Reports the values of expressions and names to the observer of lang_emit.
#include "lang/eval/consteval.h"

static bool is_told(const struct value *v) {
  switch (v->kind) {
  case VALUE_RT:
  case VALUE_INT:
  case VALUE_FLOAT:
  case VALUE_BOOL:
  case VALUE_NONE:
  case VALUE_STR:
  case VALUE_TYPE:
  case VALUE_TUPLE: return true;
  default: return false;
  }
}

static bool is_printed(struct value v) {
  return v.kind != VALUE_RT && value_is_const(v) && !(v.kind == VALUE_TUPLE && v.tuple.record);
}

void eval_observe(struct eval *e, const void *key, struct span at, struct value v) {
  const struct lang_observer *o = e->options ? e->options->observer : NULL;
  if (!o || !e->frame || e->frame->is_std || !at.source || !is_told(&v) ||
      ptrmap_get(&e->observed, key))
    return;
  ptrmap_put(e->a, &e->observed, key, e);
  const char *constant = NULL;
  if (is_printed(v)) {
    struct strbuf text = {.arena = e->a};
    const_format(e, v, true, &text);
    constant = arena_strdup(e->a, strbuf_cstr(&text));
    strbuf_finish(&text);
  }
  o->value(o->user, at, value_type_text(e, v), constant);
}
