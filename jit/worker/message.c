// SPDX-License-Identifier: Apache-2.0
// See jit/worker/message.h.
#include "jit/worker/message.h"

#include "base/diag_wire.h"
#include "base/sha256.h"

// ---- jobs ----

static void put_block(const struct lang_binding *b, struct strbuf *out) {
  if (b->kind != BIND_DESCRIPTOR)
    return;
  wire_put(out, b->block.rank);
  wire_put(out, b->block.pads_nan);
  for (unsigned i = 0; i < LANG_BLOCK_RANK; i++) {
    wire_put(out, b->block.shape[i]);
    wire_put(out, b->sizes_divisible_by[i]);
  }
}

static void get_block(struct wire_reader *r, struct lang_binding *b) {
  if (b->kind != BIND_DESCRIPTOR)
    return;
  b->block.rank = (uint32_t)wire_get(r);
  b->block.pads_nan = wire_get(r) != 0;
  for (unsigned i = 0; i < LANG_BLOCK_RANK; i++) {
    b->block.shape[i] = (uint32_t)wire_get(r);
    b->sizes_divisible_by[i] = (uint32_t)wire_get(r);
  }
  r->failed |= b->block.rank > LANG_BLOCK_RANK;
}

static void put_bindings(const struct compile_request *r, struct strbuf *out) {
  wire_put(out, r->binding_count);
  for (size_t i = 0; i < r->binding_count; i++) {
    const struct lang_binding *b = &r->bindings[i];
    wire_put_text(out, b->name);
    wire_put(out, b->kind);
    wire_put(out, b->dtype);
    wire_put(out, b->divisible_by);
    wire_put(out, b->is_unaligned);
    wire_put(out, b->is_one);
    put_block(b, out);
    wire_put_text(out, b->text);
  }
}

static void get_bindings(struct wire_reader *r, struct arena *a, struct compile_request *ret) {
  ret->binding_count = wire_get_count(r);
  ret->bindings = arena_array(a, struct lang_binding, ret->binding_count + 1);
  for (size_t i = 0; i < ret->binding_count && !r->failed; i++) {
    struct lang_binding *b = &ret->bindings[i];
    b->name = wire_get_text(r, a);
    b->kind = (enum lang_binding_kind)wire_get(r);
    b->dtype = (enum dtype)wire_get(r);
    b->divisible_by = (uint32_t)wire_get(r);
    b->is_unaligned = wire_get(r) != 0;
    b->is_one = wire_get(r) != 0;
    get_block(r, b);
    b->text = wire_get_text(r, a);
    r->failed |= !b->name || b->kind > BIND_DESCRIPTOR;
  }
}

static void put_cost_job(const struct jit_cost_job *q, struct strbuf *out) {
  wire_put(out, q != NULL);
  if (!q)
    return;
  for (int i = 0; i < 3; i++)
    wire_put(out, q->grid[i]);
  wire_put(out, q->arg_count);
  for (size_t i = 0; i < q->arg_count; i++) {
    wire_put_text(out, q->args[i].name);
    wire_put(out, (uint64_t)q->args[i].value);
  }
}

static const struct jit_cost_job *get_cost_job(struct wire_reader *r, struct arena *a) {
  if (!wire_get(r))
    return NULL;
  struct jit_cost_job *q = arena_new(a, struct jit_cost_job);
  for (int i = 0; i < 3; i++)
    q->grid[i] = (uint32_t)wire_get(r);
  q->arg_count = wire_get_count(r);
  struct cost_argument *args = arena_array(a, struct cost_argument, q->arg_count + 1);
  for (size_t i = 0; i < q->arg_count && !r->failed; i++) {
    args[i].name = wire_get_text(r, a);
    args[i].value = (int64_t)wire_get(r);
    r->failed |= !args[i].name;
  }
  q->args = args;
  return q;
}

void jit_job_put(const struct jit_job *q, struct strbuf *out) {
  const struct compile_request *r = &q->request;
  wire_put_text(out, r->source->name);
  wire_put_bytes(out, r->source->text);
  wire_put_text(out, r->kernel);
  wire_put_text(out, r->target->name);
  put_bindings(r, out);
  wire_put(out, r->num_warps);
  wire_put(out, r->num_stages);
  wire_put(out, r->max_registers);
  wire_put(out, r->num_ctas);
  wire_put(out, r->warp_specialize);
  wire_put(out, r->launch_pdl);
  wire_put(out, r->emit);
  wire_put(out, r->check);
  wire_put(out, r->debug);
  wire_put(out, r->is_detached);
  wire_put(out, r->is_complete);
  wire_put(out, r->folder_count);
  for (size_t i = 0; i < r->folder_count; i++)
    wire_put_text(out, r->folders[i]);
  put_cost_job(q->cost, out);
}

static void get_folders(struct wire_reader *r, struct arena *a, struct compile_request *ret) {
  ret->folder_count = wire_get_count(r);
  const char **folders = arena_array(a, const char *, ret->folder_count + 1);
  for (size_t i = 0; i < ret->folder_count && !r->failed; i++) {
    folders[i] = wire_get_text(r, a);
    r->failed |= !folders[i];
  }
  ret->folders = folders;
}

bool jit_job_get(struct arena *a, struct str bytes, struct jit_job *ret) {
  struct wire_reader r = {.rest = bytes};
  *ret = (struct jit_job){0};
  struct compile_request *to = &ret->request;
  const char *name = wire_get_text(&r, a);
  struct str text = wire_get_bytes(&r);
  to->kernel = wire_get_text(&r, a);
  const char *target = wire_get_text(&r, a);
  get_bindings(&r, a, to);
  to->num_warps = (uint32_t)wire_get(&r);
  to->num_stages = (uint32_t)wire_get(&r);
  to->max_registers = (uint32_t)wire_get(&r);
  to->num_ctas = (uint32_t)wire_get(&r);
  to->warp_specialize = (enum warp_specialize)wire_get(&r);
  to->launch_pdl = wire_get(&r) != 0;
  to->emit = (enum emit_kind)wire_get(&r);
  to->check = wire_get(&r) != 0;
  to->debug = wire_get(&r) != 0;
  to->is_detached = wire_get(&r) != 0;
  to->is_complete = wire_get(&r) != 0;
  get_folders(&r, a, to);
  ret->cost = get_cost_job(&r, a);
  if (r.failed || !name || !target || text.len > SOURCE_MAX_BYTES || to->emit >= EMIT_KIND_COUNT ||
      to->warp_specialize >= WARP_SPECIALIZE_COUNT)
    return false;
  to->source = source_create(a, name, text);
  to->target = target_find(str_from(target));
  return to->target != NULL;
}

// ---- replies ----

static void put_cost(const struct kernel_cost *c, struct strbuf *out) {
  wire_put_bytes(out, (struct str){(const char *)c, sizeof *c});
}

static void get_cost(struct wire_reader *r, struct kernel_cost *ret) {
  struct str bytes = wire_get_bytes(r);
  r->failed |= bytes.len != sizeof *ret;
  if (!r->failed)
    memcpy(ret, bytes.ptr, sizeof *ret);
}

void jit_reply_put(const struct jit_reply *reply, const struct diag_engine *diag,
                   const struct source *source, struct strbuf *out) {
  const struct compile_timing *t = &reply->timing;
  wire_put_bytes(out, reply->entry);
  wire_put_bytes(out, reply->code);
  wire_put_f64(out, t->parse_ms);
  wire_put_f64(out, t->frontend_ms);
  wire_put_f64(out, t->passes_ms);
  wire_put_f64(out, t->emit_ms);
  wire_put_f64(out, t->codegen_ms);
  put_cost(&reply->cost, out);
  diag_wire_put(diag, source, out);
}

static struct str get_bytes(struct wire_reader *r, struct arena *a) {
  struct str bytes = wire_get_bytes(r);
  return (struct str){arena_strndup(a, bytes.ptr, bytes.len), bytes.len};
}

bool jit_reply_get(struct arena *a, struct diag_engine *diag, const struct source *source,
                   struct str bytes, struct jit_reply *ret) {
  struct wire_reader r = {.rest = bytes};
  ret->entry = get_bytes(&r, a);
  ret->code = get_bytes(&r, a);
  struct compile_timing *t = &ret->timing;
  t->parse_ms = wire_get_f64(&r);
  t->frontend_ms = wire_get_f64(&r);
  t->passes_ms = wire_get_f64(&r);
  t->emit_ms = wire_get_f64(&r);
  t->codegen_ms = wire_get_f64(&r);
  get_cost(&r, &ret->cost);
  return diag_wire_get(diag, source, &r) && r.rest.len == 0;
}

// ---- in this process ----

// The cache's key covers the kernel's own text. Imports are known only after compilation: the paths
// that were looked up are stored beside the code, {"kernel": ..., "files": [[path, digest], ...]}
// with an empty digest for a missing file; the entry is valid as long as all digests match.
static void write_entry(const struct compile_result *result, struct strbuf *out) {
  struct json_writer w = {.out = out};
  json_begin_object(&w);
  json_key(&w, "kernel");
  kernel_info_write(&result->info, &w);
  json_key(&w, "files");
  json_begin_array(&w);
  for (size_t i = 0; i < result->dependency_count; i++) {
    const struct lang_dependency *p = &result->dependencies[i];
    char digest[65] = "";
    if (p->exists)
      sha256_hex(p->digest, digest);
    json_begin_array(&w);
    json_cstring(&w, p->path);
    json_cstring(&w, digest);
    json_end_array(&w);
  }
  json_end_array(&w);
  json_end_object(&w);
}

struct cost_look {
  const struct jit_job *q;
  struct kernel_cost *ret;
};

static void look(void *user, struct ir_context *c, MlirModule module) {
  const struct cost_look *l = user;
  const struct jit_cost_job *q = l->q->cost;
  uint32_t warps = (uint32_t)op_attr_int(mlirModuleGetOperation(module), "tilegpu.num_warps", 1);
  *l->ret = kernel_cost_of(c, module, l->q->request.target, warps, q->args, q->arg_count, q->grid);
}

bool jit_reply_make(struct arena *a, struct diag_engine *diag, const struct jit_job *q,
                    struct jit_reply *ret) {
  struct compile_request r = q->request;
  struct compile_result result = {0};
  struct cost_look l = {q, &ret->cost};
  *ret = (struct jit_reply){0};
  if (q->cost) {
    r.emit = EMIT_TILEGPU;
    r.no_text = true;
    r.inspect = look;
    r.inspect_user = &l;
  }
  if (!compile_kernel(a, diag, &r, &result))
    return false;
  ret->timing = result.timing;
  if (q->cost)
    return true;
  struct strbuf entry = {.arena = a};
  write_entry(&result, &entry);
  ret->entry = (struct str){arena_strndup(a, entry.ptr, entry.len), entry.len};
  strbuf_finish(&entry);
  ret->code = result.output;
  return true;
}
