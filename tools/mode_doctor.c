// SPDX-License-Identifier: Apache-2.0
// `tilec --doctor`: what this machine has, in the order in which problems are usually searched.
#include "base/file.h"
#include "runtime/runtime_internal.h"
#include "tools/tool.h"

struct check {
  const char *level; // "ok", "note"
  const char *topic, *text;
};
typedef VEC(struct check) checks;

static void add(struct tool *t, checks *f, const char *level, const char *topic, const char *text) {
  struct check one = {level, topic, text};
  vec_push(t->arena, f, one);
}

static void look_at_devices(struct tool *t, checks *f) {
  tile_device *device;
  tile_device_properties p;
  int gpus = tile_device_count();
  if (gpus == 0) {
    const char *why = tile_device_open("cuda", &device) == TILE_OK ? "" : tile_error_message();
    add(t, f, "note", "gpu", arena_printf(t->arena, "none: kernels run on the CPU (%s)", why));
  }
  for (int i = 0; i < gpus; i++) {
    if (tile_device_open(arena_printf(t->arena, "cuda:%d", i), &device) != TILE_OK) {
      add(t, f, "note", "gpu",
          arena_printf(t->arena, "cuda:%d cannot be used: %s", i, tile_error_message()));
      continue;
    }
    if (tile_device_get_properties(device, &p) == TILE_OK)
      add(t, f, "ok", "gpu",
          arena_printf(t->arena, "cuda:%d %s, %s, %d multiprocessors, %.1f GiB, driver %d.%d", i,
                       p.name, p.target, p.multiprocessors, (double)p.memory / (1 << 30),
                       p.driver_version / 1000, p.driver_version % 1000 / 10));
    tile_device_close(device);
  }
  if (tile_device_open("cpu", &device) == TILE_OK) {
    if (tile_device_get_properties(device, &p) == TILE_OK)
      add(t, f, "ok", "cpu",
          arena_printf(t->arena, "%s, %d worker threads", p.name, p.multiprocessors));
    tile_device_close(device);
  }
}

int mode_doctor(struct tool *t) {
  checks f = {0};
  add(t, &f, "ok", "compiler", compiler_version());
  look_at_devices(t, &f);
  const char *ptxas = file_find_program(t->arena, "ptxas"), *why = NULL;
  add(t, &f, ptxas ? "ok" : "note", "ptxas",
      ptxas ? ptxas : "not on PATH: the driver compiles PTX, register reports need a GPU");
  struct disk_cache *cache = disk_cache_open(&why);
  add(t, &f, cache ? "ok" : "note", "cache",
      cache ? "usable" : arena_printf(t->arena, "not used: %s", why ? why : "no folder"));
  disk_cache_close(cache);

  struct strbuf out = {.arena = t->arena};
  struct json_writer w = {.out = &out};
  if (t->o.json)
    json_begin_array(&w);
  for (size_t i = 0; i < f.len; i++) {
    if (t->o.json) {
      json_begin_object(&w);
      json_key(&w, "level"), json_cstring(&w, f.at[i].level);
      json_key(&w, "topic"), json_cstring(&w, f.at[i].topic);
      json_key(&w, "text"), json_cstring(&w, f.at[i].text);
      json_end_object(&w);
    } else {
      strbuf_printf(&out, "  %-5s %-9s %s\n", f.at[i].level, f.at[i].topic, f.at[i].text);
    }
  }
  if (t->o.json) {
    json_end_array(&w);
    strbuf_putc(&out, '\n');
  }
  int status = tool_write(t, strbuf_cstr(&out), out.len);
  strbuf_finish(&out);
  return status;
}
