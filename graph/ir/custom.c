// SPDX-License-Identifier: Apache-2.0
// The table of custom operators, and PyTorch's schemas.
#include "graph/ir/custom.h"

#include "base/memory.h"

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>

static struct {
  pthread_mutex_t lock;
  struct custom_operator **at;
  size_t count, cap;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const struct custom_operator *find(struct str name) {
  for (size_t i = 0; i < table.count; i++)
    if (str_is(name, table.at[i]->name))
      return table.at[i];
  return NULL;
}

const struct custom_operator *custom_find(struct str name) {
  pthread_mutex_lock(&table.lock);
  const struct custom_operator *o = find(name);
  pthread_mutex_unlock(&table.lock);
  return o;
}

bool custom_add(struct custom_operator *o) {
  enum operator_id id;
  bool ok = !operator_find(str_from(o->name), &id);
  pthread_mutex_lock(&table.lock);
  ok = ok && !find(str_from(o->name));
  if (ok && table.count == table.cap) {
    size_t cap = table.cap ? 2 * table.cap : 16;
    struct custom_operator **at = memory_zeroed(cap, sizeof *at);
    if ((ok = at != NULL)) {
      for (size_t i = 0; i < table.count; i++)
        at[i] = table.at[i];
      free(table.at);
      table.at = at;
      table.cap = cap;
    }
  }
  if (ok)
    table.at[table.count++] = o;
  pthread_mutex_unlock(&table.lock);
  return ok;
}

// ---- schemas ----

static struct str trim(struct str s) {
  while (s.len && isspace((unsigned char)s.ptr[0]))
    s.ptr++, s.len--;
  while (s.len && isspace((unsigned char)s.ptr[s.len - 1]))
    s.len--;
  return s;
}

// The part before the first `stop` outside of brackets; *rest is what follows it, empty if there is
// none.
static struct str until(struct str s, char stop, struct str *rest) {
  int depth = 0;
  for (size_t i = 0; i < s.len; i++) {
    depth += s.ptr[i] == '[' || s.ptr[i] == '(';
    depth -= s.ptr[i] == ']' || s.ptr[i] == ')';
    if (s.ptr[i] == stop && depth == 0) {
      *rest = (struct str){s.ptr + i + 1, s.len - i - 1};
      return (struct str){s.ptr, i};
    }
  }
  *rest = (struct str){s.ptr + s.len, 0};
  return s;
}

static bool is_identifier(struct str s) {
  bool ok = s.len > 0 && !isdigit((unsigned char)s.ptr[0]);
  for (size_t i = 0; ok && i < s.len; i++)
    ok = isalnum((unsigned char)s.ptr[i]) || s.ptr[i] == '_';
  return ok;
}

static bool parse_type(struct str s, struct parameter *p) {
  static const struct {
    const char *name;
    char type;
  } types[] = {{"Tensor", 'T'}, {"Scalar", 'S'}, {"int", 'i'}, {"SymInt", 'i'},
               {"float", 'f'},  {"bool", 'b'},   {"str", 's'}, {"ScalarType", 'd'}};
  if (s.len && s.ptr[s.len - 1] == '?')
    p->is_optional = true, s.len--;
  if (str_ends(s, "[]"))
    p->is_list = true, s.len -= 2;
  for (size_t i = 0; i < COUNT_OF(types); i++)
    if (str_is(s, types[i].name)) {
      p->type = types[i].type;
      return true;
    }
  return false;
}

// "float by=2.0"; strings lie in the schema, which is kept.
static const char *parse_parameter(struct str s, struct parameter *p) {
  struct str value, left = until(s, '=', &value);
  left = trim(left);
  size_t space = left.len;
  while (space > 0 && left.ptr[space - 1] != ' ')
    space--;
  p->name = (struct str){left.ptr + space, left.len - space};
  p->has_default = value.len > 0;
  p->default_text = trim(value);
  if (space == 0 || !is_identifier(p->name) || !parse_type(trim((struct str){left.ptr, space}), p))
    return "a parameter is a type and a name, such as `Tensor x` or `float by=2.0`";
  return NULL;
}

static const char *parse_parameters(struct custom_operator *o, struct str s) {
  bool by_name = false;
  for (struct str rest = trim(s), one; rest.len;) {
    one = trim(until(rest, ',', &rest));
    if (str_is(one, "*")) {
      by_name = true;
      continue;
    }
    if (o->count == OPERATOR_MAX_PARAMETERS)
      return "more than 24 parameters";
    struct parameter *p = &o->parameters[o->count++];
    *p = (struct parameter){.by_name = by_name};
    const char *why = parse_parameter(one, p);
    if (why)
      return why;
  }
  return NULL;
}

static const char *parse_results(struct custom_operator *o, struct str s) {
  s = trim(s);
  if (s.len > 1 && s.ptr[0] == '(' && s.ptr[s.len - 1] == ')')
    s = (struct str){s.ptr + 1, s.len - 2};
  for (struct str rest = s, one; rest.len; o->results++) {
    struct str after;
    one = trim(until(rest, ',', &after));
    rest = after;
    if (!str_is(until(one, ' ', &after), "Tensor"))
      return "results are `Tensor`, or `(Tensor, Tensor)`";
  }
  return o->results ? NULL : "it has no result";
}

// "mylib::scale" or "mylib::scale.out" as "mylib.scale.default".
static char *name_of(struct str s) {
  char *name = memory_alloc(s.len + sizeof ".default");
  size_t len = 0, dots = 0;
  for (size_t i = 0; name && i < s.len; i++) {
    if (s.ptr[i] == ':' && i + 1 < s.len && s.ptr[i + 1] == ':')
      i++, name[len++] = '.';
    else
      name[len++] = s.ptr[i];
    dots += name[len - 1] == '.';
  }
  if (name)
    memcpy(name + len, dots < 2 ? ".default" : "", dots < 2 ? sizeof ".default" : 1);
  return name;
}

static bool is_name(struct str s) {
  struct str rest, space = until(s, ':', &rest);
  if (!is_identifier(space) || rest.len < 2 || rest.ptr[0] != ':')
    return false;
  struct str overload, name = until((struct str){rest.ptr + 1, rest.len - 1}, '.', &overload);
  return is_identifier(name) && (overload.len == 0 || is_identifier(overload));
}

const char *custom_parse(struct custom_operator *o, const char *schema) {
  char *kept = memory_strdup(schema);
  o->schema = kept;
  if (!kept)
    return "out of memory";
  const char *open = strchr(kept, '('), *arrow = strstr(kept, "->");
  if (!open || !arrow || arrow < open)
    return "a schema is `name(parameters) -> results`";
  const char *close = arrow;
  while (close > open && *close != ')')
    close--;
  struct str name = trim((struct str){kept, (size_t)(open - kept)});
  if (!is_name(name))
    return "a name is `library::operator` or `library::operator.overload`";
  if (close == open)
    return "a `)` is missing";
  if (!(o->name = name_of(name)))
    return "out of memory";
  const char *why = parse_parameters(o, (struct str){open + 1, (size_t)(close - open - 1)});
  return why ? why : parse_results(o, str_from(arrow + 2));
}

void custom_free(struct custom_operator *o) {
  if (!o)
    return;
  free((void *)(uintptr_t)o->name);
  free((void *)(uintptr_t)o->schema);
  free((void *)(uintptr_t)o->given.kernel_source);
  free((void *)(uintptr_t)o->given.kernel);
  free((void *)(uintptr_t)o->given.arguments);
  free((void *)(uintptr_t)o->given.constants);
  free((void *)(uintptr_t)o->given.grid);
  free(o);
}

// ---- nodes ----

const struct custom_operator *node_custom(const struct node *n) {
  assert(n->op == OP_CUSTOM && n->args[0].kind == ARG_STRING);
  const struct custom_operator *o = custom_find(n->args[0].string);
  assert(o); // operators stay registered
  return o;
}

const struct arg *node_custom_args(const struct node *n) { return n->args[1].list.at; }
