// SPDX-License-Identifier: Apache-2.0
// Parses annotations: "f32[2, s0][s0, 1]cuda:0", "Sym(s0)", with or without strides, device and
// quotes.
#include "graph/ir/fx_names.h"
#include "graph/read/fx_reader.h"

// ---- tokens of a string ----

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static enum token_kind mark(char c, char next, uint32_t *ret_len) {
  static const struct {
    const char *text;
    enum token_kind kind;
  } marks[] = {
      {"//", TOK_DOUBLE_SLASH}, {"**", TOK_DOUBLE_STAR}, {"<=", TOK_LE},     {">=", TOK_GE},
      {"==", TOK_EQ},           {"!=", TOK_NE},          {"<", TOK_LT},      {">", TOK_GT},
      {"[", TOK_LBRACKET},      {"]", TOK_RBRACKET},     {"(", TOK_LPAREN},  {")", TOK_RPAREN},
      {",", TOK_COMMA},         {":", TOK_COLON},        {"+", TOK_PLUS},    {"-", TOK_MINUS},
      {"*", TOK_STAR},          {"/", TOK_SLASH},        {"%", TOK_PERCENT}, {".", TOK_DOT}};
  for (size_t i = 0; i < COUNT_OF(marks); i++)
    if (marks[i].text[0] == c && (!marks[i].text[1] || marks[i].text[1] == next)) {
      *ret_len = (uint32_t)strlen(marks[i].text);
      return marks[i].kind;
    }
  *ret_len = 1;
  return TOK_UNKNOWN;
}

// The tokens of the string at the reader's position, terminated by TOK_EOF.
static void tokens_of_string(struct reader *r) {
  struct token t = r->at[r->pos];
  struct str text = r->source->text;
  struct string_form f = literal_string_form(text, t.begin, t.end);
  r->annotation_tokens.len = 0;
  for (uint32_t p = f.body_begin; p < f.body_end;) {
    uint32_t begin = p, len = 1;
    enum token_kind kind = TOK_NAME;
    if (text.ptr[p] == ' ') {
      p++;
      continue;
    }
    if (text.ptr[p] >= '0' && text.ptr[p] <= '9') {
      p = literal_scan_number(text, p, &kind);
      p = p < f.body_end ? p : f.body_end;
    } else if (is_word(text.ptr[p])) {
      while (p < f.body_end && is_word(text.ptr[p]))
        p++;
    } else {
      kind = mark(text.ptr[p], p + 1 < f.body_end ? text.ptr[p + 1] : '\0', &len);
      p += len;
    }
    vec_push(r->arena, &r->annotation_tokens, (struct token){kind, begin, p});
  }
  vec_push(r->arena, &r->annotation_tokens, (struct token){TOK_EOF, f.body_end, f.body_end});
}

// ---- the parser ----

static bool dims(struct reader *r, const struct expr **ret, uint32_t *ret_rank) {
  *ret_rank = 0;
  if (!fx_expect(r, TOK_LBRACKET))
    return false;
  while (fx_peek(r) != TOK_RBRACKET) {
    size_t first = r->pos;
    if (*ret_rank == GRAPH_MAX_RANK) {
      diag_help(fx_error(r, fx_span(r, first, first + 1), E1009,
                         "a tensor of more than %d dimensions", GRAPH_MAX_RANK),
                "join dimensions in the model: a tensor has at most 16");
      return false;
    }
    const struct expr *e;
    r->number_depth = 0;
    if (!fx_number(r, &e))
      return false;
    if (e->lo < 0 && expr_is_const(e, NULL)) {
      diag_help(fx_error(r, fx_span(r, first, r->pos), E1001, "a negative number of elements"),
                "sizes are 0 or more");
      return false;
    }
    ret[(*ret_rank)++] = e;
    if (!fx_accept(r, TOK_COMMA))
      break;
  }
  return fx_expect(r, TOK_RBRACKET);
}

static bool dtype(struct reader *r, struct annotation *ret) {
  struct span at = fx_span(r, r->pos, r->pos + 1);
  if (fx_peek(r) != TOK_NAME)
    return fx_unexpected(r, "expected a dtype");
  struct str name = fx_text(r, r->pos++);
  ret->dtype = fx_complex_part(name);
  if ((ret->is_complex = ret->dtype != DTYPE_NONE))
    return true;
  switch (fx_dtype_from_short(name, &ret->dtype)) {
  case FX_DTYPE_KNOWN: return true;
  case FX_DTYPE_UNSUPPORTED:
    diag_help(fx_error(r, at, E1008, "tensors of `%.*s`", STR_ARG(name)),
              "dtypes are those of docs/operators.md: convert the tensor in the model, "
              "`x.to(torch.float32)`");
    return false;
  default:
    diag_help(fx_error(r, at, E1001, "`%.*s` is not a dtype", STR_ARG(name)),
              "annotations begin with f32, bf16, f16, f64, i64, i32, i16, i8, u8 or b8");
    return false;
  }
}

static bool tensor(struct reader *r, struct annotation *ret) {
  if (!dtype(r, ret) || !dims(r, ret->shape, &ret->rank))
    return false;
  if (fx_peek(r) == TOK_LBRACKET) {
    size_t first = r->pos;
    uint32_t rank;
    if (!dims(r, ret->strides, &rank))
      return false;
    if (rank != ret->rank) {
      diag_help(fx_error(r, fx_span(r, first, r->pos), E1001, "%u strides for %u dimensions", rank,
                         ret->rank),
                "give a stride for each dimension, or leave them out: `f32[8]`");
      return false;
    }
    ret->has_strides = true;
  }
  size_t device = r->pos; // the text's device; the caller chooses where graphs run
  if (fx_accept(r, TOK_NAME) && fx_peek(r) == TOK_COLON && fx_peek_behind(r) == TOK_INT)
    r->pos += 2;
  if (r->pos > device && !r->g->device) {
    struct span s = fx_span(r, device, r->pos);
    r->g->device = arena_strndup(r->arena, s.source->text.ptr + s.begin, s.end - s.begin);
  }
  return true;
}

static bool symbol(struct reader *r, struct annotation *ret) {
  ret->is_number = true;
  r->pos += 2;
  if (fx_peek(r) == TOK_TRUE || fx_peek(r) == TOK_FALSE)
    return fx_unexpected(r, "expected a size");
  r->number_depth = 0;
  r->in_size = true;
  bool ok = fx_value(r, &ret->number);
  r->in_size = false;
  if (!ok)
    return false;
  ret->depth = r->number_depth;
  return fx_expect(r, TOK_RPAREN);
}

static bool words(struct reader *r, struct annotation *ret) {
  struct str first = fx_text(r, r->pos);
  if (fx_peek(r) != TOK_NAME || fx_peek_behind(r) != TOK_LPAREN)
    return tensor(r, ret);
  if (str_is(first, "Sym"))
    return symbol(r, ret);
  if (str_is(first, "Parameter") || str_is(first, "Buffer") || str_is(first, "Tensor")) {
    r->pos += 2;
    return tensor(r, ret) && fx_expect(r, TOK_RPAREN);
  }
  diag_help(fx_error(r, fx_span(r, r->pos, r->pos + 1), E1008, "a tensor of class `%.*s`",
                     STR_ARG(first)),
            "only plain tensors are supported");
  return false;
}

bool fx_is_tensor_annotation(const struct reader *r, size_t token) {
  struct str text = fx_text(r, token), name = {text.ptr + 1, 0};
  enum dtype unused;
  while (name.len + 1 < text.len && is_word(name.ptr[name.len]))
    name.len++;
  return r->at[token].kind == TOK_STRING && name.len + 1 < text.len && name.ptr[name.len] == '[' &&
         (fx_dtype_from_short(name, &unused) == FX_DTYPE_KNOWN ||
          fx_complex_part(name) != DTYPE_NONE);
}

bool fx_annotation(struct reader *r, struct annotation *ret) {
  size_t begin = r->pos;
  memset(ret, 0, sizeof *ret);
  r->in_annotation = true;
  bool ok;
  if (fx_peek(r) == TOK_STRING) {
    const struct token *outside = r->at;
    tokens_of_string(r);
    r->at = r->annotation_tokens.at;
    r->pos = 0;
    ok = words(r, ret) &&
         (fx_peek(r) == TOK_EOF || fx_unexpected(r, "expected the end of the annotation"));
    r->at = outside;
    r->pos = begin + 1;
  } else {
    ok = words(r, ret);
  }
  r->in_annotation = false;
  ret->span = fx_span(r, begin, r->pos);
  return ok;
}

bool fx_annotation_at(struct reader *r, size_t token, struct annotation *ret) {
  size_t here = r->pos;
  r->pos = token;
  bool ok = fx_annotation(r, ret);
  r->pos = here;
  return ok;
}

// ---- comparison ----

bool fx_is_dropped(const struct reader *r, size_t name) {
  for (size_t i = r->pos; r->at[i].kind != TOK_NEWLINE && r->at[i].kind != TOK_EOF; i++)
    if (r->at[i].kind == TOK_NAME && str_eq(fx_text(r, i), fx_text(r, name)))
      return true;
  return false;
}

bool fx_check_size(struct reader *r, const struct value *v, struct span at) {
  if (!value_is_too_large(v))
    return true;
  struct strbuf type = {.arena = r->arena};
  value_type_print(v, v->strides != NULL, &type);
  fx_error(r, at, E0911, "`%s` takes 2^46 bytes or more", strbuf_cstr(&type));
  strbuf_finish(&type);
  return false;
}

static bool agrees(struct reader *r, const struct value *v, const struct annotation *an) {
  if (v->dtype != an->dtype || v->rank != an->rank || (v->complex != NULL) != an->is_complex)
    return false;
  for (uint32_t i = 0; i < v->rank; i++) {
    const struct expr *a = v->shape[i], *b = an->shape[i];
    if (a != b && (a->hi < b->lo || b->hi < a->lo || !graph_require_equal(r->g, a, b, an->span)))
      return false;
  }
  return true;
}

bool fx_annotate(struct reader *r, struct value *v, const struct annotation *an,
                 struct span made_at) {
  if (!agrees(r, v, an)) {
    struct strbuf type = {.arena = r->arena};
    value_type_print(v, false, &type);
    struct str text = {r->source->text.ptr + an->span.begin, an->span.end - an->span.begin};
    if (text.len > 2 && (text.ptr[0] == '"' || text.ptr[0] == '\''))
      text = (struct str){text.ptr + 1, text.len - 2};
    struct diag *d =
        fx_error(r, an->span, E1006, "annotated as `%.*s`, but the operator gives `%s`",
                 STR_ARG(text), strbuf_cstr(&type));
    diag_label(d, made_at, "gives `%s`", strbuf_cstr(&type));
    diag_help(d, "change the annotation to `%s`, or the operator's arguments", strbuf_cstr(&type));
    strbuf_finish(&type);
    return false;
  }
  for (uint32_t i = 0; i < v->rank; i++) {
    v->shape[i] = expr_equate(v->shape[i], an->shape[i]);
    if (an->has_strides)
      v->strides[i] = an->strides[i];
  }
  return true;
}
