// SPDX-License-Identifier: Apache-2.0
// Names in the text of a graph: their bindings, and sizes.
#include "graph/ir/sizes.h"
#include "graph/read/fx_reader.h"

#include <ctype.h>

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static struct binding *wrong(struct reader *r) {
  struct binding *b = arena_new(r->arena, struct binding);
  b->kind = BOUND_WRONG;
  return b;
}

// The token that defines the name later in the text; UINT32_MAX if there is none.
static uint32_t made_later(const struct reader *r, struct str name) {
  for (size_t i = r->pos; r->at[i].kind != TOK_EOF; i++)
    if (r->at[i].kind == TOK_NEWLINE && r->at[i + 1].kind == TOK_NAME &&
        (r->at[i + 2].kind == TOK_COLON || r->at[i + 2].kind == TOK_ASSIGN) &&
        str_eq(fx_text(r, i + 1), name))
      return r->at[i + 1].begin;
  return UINT32_MAX;
}

// The name of a value above that is nearest; NULL: none is near.
static const char *nearest_name(struct reader *r, struct str name) {
  size_t count = 0;
  struct map_entry m;
  for (size_t i = 0; map_next(&r->names, &i, &m);)
    count++;
  const char **names = arena_array(r->arena, const char *, count + 1);
  count = 0;
  for (size_t i = 0; map_next(&r->names, &i, &m);)
    if (((struct binding *)m.value)->kind != BOUND_WRONG)
      names[count++] = arena_strndup(r->arena, m.key.ptr, m.key.len);
  const char *near = str_nearest(name, names, count);
  for (size_t i = 0; !near && i < count; i++) // short names: a letter too many or too few
    if (names[i][0] == name.ptr[0] && str_distance(name, str_from(names[i])) == 1)
      near = names[i];
  return near;
}

static struct binding *unknown_name(struct reader *r, size_t token) {
  struct str name = fx_text(r, token);
  struct diag *d = fx_error(r, fx_span(r, token, token + 1), E1007, "`%.*s` is not defined above",
                            STR_ARG(name));
  uint32_t later = d ? made_later(r, name) : UINT32_MAX;
  if (later != UINT32_MAX)
    diag_label(d, (struct span){r->source, later, later + (uint32_t)name.len},
               "defined here: operators must follow those whose results they use");
  const char *near = nearest_name(r, name);
  if (later != UINT32_MAX)
    diag_help(d, "move that line up");
  else if (near)
    diag_did_you_mean(d, fx_span(r, token, token + 1), near);
  else
    diag_help(d, "add the line that computes it, or remove it here");
  map_put(r->arena, &r->names, name, wrong(r));
  return NULL;
}

struct binding *fx_use(struct reader *r, size_t token) {
  struct str name = fx_text(r, token);
  struct binding *b = map_get(&r->names, name);
  struct span at = fx_span(r, token, token + 1);
  if (!b)
    return unknown_name(r, token);
  if (b->is_gone) {
    diag_label(fx_error(r, at, E1007, "`%.*s` is used after it was set to None", STR_ARG(name)),
               b->span, "defined here");
    return NULL;
  }
  if (b->kind == BOUND_WRONG)
    r->is_poisoned = true;
  return b;
}

// Is the size in the brackets of a later parameter, so that it is that of a tensor?
static bool is_of_tensor(const struct reader *r, struct str name) {
  struct str text = r->source->text;
  bool in_brackets = false;
  for (size_t i = r->at[r->pos].begin; i > 0 && i + name.len < text.len; i++) {
    char c = text.ptr[i];
    if (c == '[' || c == '"' || c == ']')
      in_brackets = c == '[' || (c == ']' && text.ptr[i + 1] == '[');
    else if (c == ')' && text.ptr[i + 1] == ':')
      return false;
    else if (in_brackets && !is_word(text.ptr[i - 1]) && !is_word(text.ptr[i + name.len]) &&
             memcmp(text.ptr + i, name.ptr, name.len) == 0)
      return true;
  }
  return false;
}

// Sizes of tensors are at least 1 where the text has no range; other integers may be 0.
static struct size_range range_of(const struct reader *r, struct str name) {
  const struct size_range *known = map_get(&r->ranges, name);
  if (known)
    return *known;
  return (struct size_range){r->in_size && !is_of_tensor(r, name) ? 0 : 1, GRAPH_MAX_SIZE};
}

const struct expr *fx_symbol(struct reader *r, struct str name, struct span at) {
  const struct expr *e = map_get(&r->symbols, name);
  if (e)
    return e;
  if (!r->may_add_symbols) {
    diag_help(fx_error(r, at, E1006, "no input has the size `%.*s`", STR_ARG(name)),
              "sizes that depend on the contents of tensors are not supported: use the largest "
              "size and a mask (`torch.where`), or pass the number to the model as an integer");
    return NULL;
  }
  const char *copy = arena_strndup(r->arena, name.ptr, name.len);
  struct size_range range = range_of(r, name);
  e = graph_size(r->g, copy, range.lo, range.hi);
  map_put(r->arena, &r->symbols, name, (void *)(uintptr_t)e);
  return e;
}

void fx_name_value(struct reader *r, size_t token, struct value *v) {
  struct str name = fx_text(r, token);
  v->name = arena_strndup(r->arena, name.ptr, name.len);
  v->span = fx_span(r, token, token + 1);
}
