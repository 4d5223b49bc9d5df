// SPDX-License-Identifier: Apache-2.0
// `tilec --bench`: the arguments of --run, launched many times between events. Before each timed
// launch a buffer larger than the L2 cache is written, so that inputs come from memory. The peak is
// a device copy of as many bytes, measured in the same run.
#include "autotune/report/report.h"
#include "autotune/worker/bench.h"
#include "tools/interrupt.h"
#include "tools/launch/launch.h"
#include "tools/progress.h"

struct stopwatch {
  tile_event *start, *stop;
  void *flush, *copy_from, *copy_to;
  size_t flush_bytes, copy_bytes;
};

// Bytes that a launch moves if it touches every array argument once.
static uint64_t argument_bytes(const struct launch *l) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < l->arg_count; i++)
    if (l->args[i].value.is_array)
      bytes += l->args[i].value.array.count * dtype_bytes(l->args[i].value.array.dtype);
  return bytes;
}

static tile_status prepare(struct launch *l, struct stopwatch *b, uint64_t bytes) {
  b->flush_bytes = bench_flush_bytes(&l->properties);
  b->copy_bytes = (size_t)(bytes / 2 ? bytes / 2 : 1);
  tile_status status = tile_event_create(l->device, &b->start);
  if (status == TILE_OK)
    status = tile_event_create(l->device, &b->stop);
  if (status == TILE_OK)
    status = tile_malloc(l->device, b->flush_bytes, &b->flush);
  if (status == TILE_OK)
    status = tile_malloc(l->device, b->copy_bytes, &b->copy_from);
  if (status == TILE_OK)
    status = tile_malloc(l->device, b->copy_bytes, &b->copy_to);
  if (status == TILE_OK)
    status = tile_memset(l->device, NULL, b->copy_from, 0x5a, b->copy_bytes);
  return status;
}

static void release(struct launch *l, struct stopwatch *b) {
  tile_event_destroy(b->start);
  tile_event_destroy(b->stop);
  tile_free(l->device, b->flush);
  tile_free(l->device, b->copy_from);
  tile_free(l->device, b->copy_to);
}

// One timed launch, or one timed device copy.
static tile_status time_once(struct launch *l, struct stopwatch *b, bool copy, double *ret_ms) {
  float ms = 0;
  tile_status status = tile_memset(l->device, NULL, b->flush, 1, b->flush_bytes);
  if (status == TILE_OK)
    status = tile_event_record(l->device, b->start, NULL);
  if (status == TILE_OK)
    status = copy ? tile_copy_on_device(l->device, NULL, b->copy_to, b->copy_from, b->copy_bytes)
                  : tile_launch(l->kernel, NULL, l->grid, l->packed, l->arg_count);
  if (status == TILE_OK)
    status = tile_event_record(l->device, b->stop, NULL);
  if (status == TILE_OK)
    status = tile_event_elapsed(b->start, b->stop, &ms);
  *ret_ms = (double)ms;
  return status;
}

// Alternates launches and copies, so that both run at the same clocks. A signal ends it after the
// pair that is being measured.
static tile_status measure(struct tool *t, struct launch *l, struct stopwatch *b,
                           struct tune_sample *ret_kernel, struct tune_sample *ret_copy) {
  double estimate = 0, warm;
  tile_status status = TILE_OK;
  for (int i = 0; status == TILE_OK && i < 3; i++)
    status = time_once(l, b, false, &estimate);
  if (status == TILE_OK)
    status = time_once(l, b, true, &warm);
  if (status != TILE_OK)
    return status;
  double wanted = estimate > 0 ? 100.0 / estimate : 1000;
  unsigned n = t->o.repeats    ? (unsigned)t->o.repeats
               : wanted < 20   ? 20
               : wanted > 1000 ? 1000
                               : (unsigned)wanted;
  if (l->properties.is_cpu && !t->o.repeats)
    n = n > 20 ? 20 : n;
  double *kernel = arena_array(t->arena, double, n), *copy = arena_array(t->arena, double, n);
  unsigned i = 0;
  for (; status == TILE_OK && i < n && (i == 0 || !interrupt_seen()); i++) {
    progress_count(i, n);
    status = time_once(l, b, false, &kernel[i]);
    if (status == TILE_OK)
      status = time_once(l, b, true, &copy[i]);
  }
  if (status == TILE_OK) {
    *ret_kernel = tune_sample_of(kernel, i);
    *ret_copy = tune_sample_of(copy, i);
  }
  return status;
}

static void report(struct tool *t, struct launch *l, uint64_t bytes, struct tune_sample k,
                   struct tune_sample c, struct strbuf *out) {
  double gbs = (double)bytes / 1e6 / k.median, copy_gbs = (double)(bytes / 2 * 2) / 1e6 / c.median;
  double tflops = t->o.flops / 1e9 / k.median;
  if (t->o.json) {
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_key(&w, "kernel"), json_cstring(&w, l->kernel_name);
    json_key(&w, "device"), json_cstring(&w, l->properties.name);
    json_key(&w, "tuned"), tuned_write(&l->tuned, &w);
    json_key(&w, "ms"), json_double(&w, k.median);
    json_key(&w, "ms_p20"), json_double(&w, k.p20);
    json_key(&w, "ms_p80"), json_double(&w, k.p80);
    json_key(&w, "launches"), json_int(&w, k.count);
    json_key(&w, "bytes"), json_int(&w, (int64_t)bytes);
    json_key(&w, "gbs"), json_double(&w, gbs);
    json_key(&w, "copy_gbs"), json_double(&w, copy_gbs);
    json_key(&w, "of_copy"), json_double(&w, gbs / copy_gbs);
    if (t->o.flops > 0)
      json_key(&w, "tflops"), json_double(&w, tflops);
    json_key(&w, "registers"), json_int(&w, l->registers);
    json_end_object(&w);
    strbuf_putc(out, '\n');
    return;
  }
  strbuf_printf(out, "%s on %s (%s), grid (%u, %u, %u), %u launches\n", l->kernel_name,
                l->properties.name, l->properties.target, l->grid.x, l->grid.y, l->grid.z, k.count);
  launch_show_tuned(l, out);
  strbuf_puts(out, "  time      ");
  tune_sample_print(k, out);
  strbuf_putc(out, '\n');
  strbuf_printf(out, "  memory    %.1f GB/s, %.1f%% of a device copy (%.1f GB/s)\n", gbs,
                100 * gbs / copy_gbs, copy_gbs);
  if (t->o.flops > 0)
    strbuf_printf(out, "  compute   %.2f TFLOP/s\n", tflops);
  if (!l->properties.is_cpu)
    strbuf_printf(out, "  registers %d a thread%s\n", l->registers,
                  l->local_bytes ? ", with spills" : "");
}

int mode_bench(struct tool *t) {
  struct launch l = {0};
  struct stopwatch b = {0};
  struct strbuf out = {.arena = t->arena};
  int status = launch_open(t, &l);
  if (status == EXIT_DONE)
    status = launch_compile(t, &l);
  if (status == EXIT_DONE)
    status = launch_run(t, &l);
  if (status == EXIT_DONE) {
    uint64_t bytes = t->o.bytes ? t->o.bytes : argument_bytes(&l);
    struct tune_sample kernel = {0}, copy = {0};
    interrupt_catch();
    progress_stage(t, arena_printf(t->arena, "timing %s", l.kernel_name));
    tile_status measured = prepare(&l, &b, bytes);
    if (measured == TILE_OK)
      measured = measure(t, &l, &b, &kernel, &copy);
    status = launch_failed(t, t->o.file_at, measured);
    if (status == EXIT_DONE) {
      report(t, &l, bytes, kernel, copy, &out);
      status = tool_write(t, strbuf_cstr(&out), out.len);
    }
    status = interrupt_status(status);
    interrupt_release();
    release(&l, &b);
  }
  strbuf_finish(&out);
  launch_close(&l);
  return status;
}
