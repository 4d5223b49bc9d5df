// SPDX-License-Identifier: Apache-2.0
// Tests of FILE.tune.json: the parts of a key, the entry for a key, round trips through a file; a
// malformed file is rejected with its location and never overwritten.
#include "autotune/database/database_internal.h"
#include "base/file.h"
#include "suites.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct arena *a;
static struct diag_engine *diag;
static char folder[64];

static void setup(void) {
  a = arena_create();
  diag = diag_engine_create(a);
  const char *tmp = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/tile-tune-XXXXXX", tmp && strlen(tmp) < 40 ? tmp : "/tmp");
  ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void teardown(void) {
  char command[96];
  arena_destroy(a);
  snprintf(command, sizeof command, "rm -rf %s", folder);
  ck_assert_int_eq(system(command), 0);
}

static const char *path_in(const char *name) { return arena_printf(a, "%s/%s", folder, name); }

static void write_text(const char *path, const char *text) {
  ck_assert_int_eq(file_write(path, text, strlen(text)), 0);
}

static const char *read_text(const char *path) {
  struct str text;
  ck_assert_int_eq(file_read(a, path, TUNE_FILE_MAX_BYTES, &text), 0);
  return text.ptr;
}

// ---- entries ----

static struct tune_entry entry_for(int64_t m, int64_t n, uint8_t hash, double ms) {
  static struct tune_setting settings[] = {{"BLOCK", "128"}, {"KIND", "relu"}, {"num_warps", "8"}};
  struct tune_key_value *values = arena_array(a, struct tune_key_value, 2);
  values[0] = (struct tune_key_value){"M", m};
  values[1] = (struct tune_key_value){"N", n};
  struct tune_entry e = {.key = {.kernel = "k",
                                 .device = "a \"device\"",
                                 .target = "sm_80",
                                 .types = "*f32:16,i32,i32",
                                 .values = values,
                                 .value_count = 2},
                         .settings = settings,
                         .setting_count = 3,
                         .ms = ms,
                         .default_ms = 2 * ms,
                         .version = "0.1.0"};
  memset(e.key.hash, hash, sizeof e.key.hash);
  return e;
}

static struct tune_file file_of(struct tune_entry *entries, size_t count) {
  struct tune_file f = {entries, count};
  tune_file_sort(&f);
  return f;
}

static const char *print(const struct tune_file *f) {
  struct strbuf out = {0};
  tune_file_print(f, &out);
  const char *text = arena_strdup(a, strbuf_cstr(&out));
  strbuf_finish(&out);
  return text;
}

static bool parse(struct str text, struct tune_file *f) {
  return tune_file_parse(a, diag, source_create(a, "k.tune.json", text), f);
}

// ---- keys ----

static struct tune_key key_of(const char *file, const char *text, const tile_arg *args,
                              const char *const *names, size_t name_count) {
  static const char *const arg_names[] = {"x", "n", "b", "f"};
  static const struct lang_binding fixed[] = {
      {.name = "MODE", .kind = BIND_CONSTANT, .text = "\"relu\""},
      {.name = "BLOCK", .kind = BIND_CONSTANT, .text = "0x40"}};
  struct tune_problem p = {.file = file,
                           .text = str_from(text),
                           .fixed = fixed,
                           .fixed_count = 2,
                           .num_warps = 2,
                           .args = args,
                           .arg_count = 4,
                           .arg_names = arg_names};
  tile_device_properties device = {.name = "a device", .target = "sm_89"};
  struct tune_key k = {0};
  ck_assert_msg(tune_key_of(a, &p, &device, names, name_count, &k) == TILE_OK, "%s",
                tile_error_message());
  return k;
}

static const char kernel[] =
    "@jit\ndef k(x, n, b, f, BLOCK: constexpr, MODE: constexpr):\n    pass\n";

START_TEST(a_key_has_types_hints_numbers_and_what_was_fixed) {
  tile_arg args[] = {tile_arg_pointer((void *)(uintptr_t)4096, TILE_F16), tile_arg_i32(48),
                     tile_arg_int(TILE_I64, 1), tile_arg_f32(16)};
  struct tune_key k = key_of("k.tile", kernel, args, NULL, 0);
  ck_assert_str_eq(k.kernel, "k");
  ck_assert_str_eq(k.device, "a device");
  ck_assert_str_eq(k.target, "sm_89");
  ck_assert_str_eq(k.types, "*f16:16,i32:16,i64:1,f32");
  ck_assert_uint_eq(k.value_count, 2);
  ck_assert_str_eq(k.values[0].name, "b");
  ck_assert_int_eq(k.values[0].value, 1);
  ck_assert_int_eq(k.values[1].value, 48);
  struct strbuf out = {0};
  tune_settings_print(k.fixed, k.fixed_count, &out);
  ck_assert_str_eq(out.ptr, "BLOCK=64, MODE=\"relu\", num_warps=2");
  strbuf_finish(&out);
  args[0].value.pointer = (void *)(uintptr_t)4104;
  args[1] = tile_arg_int(TILE_I1, 1);
  args[2] = tile_arg_int(TILE_U8, 7);
  const char *const names[] = {"b", "f", "x"}; // neither floats nor pointers are numbers of a key
  k = key_of("k.tile", kernel, args, names, 3);
  ck_assert_str_eq(k.types, "*f16,i1,u8,f32");
  ck_assert_uint_eq(k.value_count, 1);
  ck_assert_str_eq(k.values[0].name, "b");
}
END_TEST

START_TEST(a_kernel_that_is_not_there) {
  tile_device_properties device = {.name = "d", .target = "cpu"};
  struct tune_problem p = {.file = "k.tile", .text = str_from(kernel), .kernel = "other"};
  struct tune_key k;
  ck_assert_int_eq(tune_key_of(a, &p, &device, NULL, 0, &k), TILE_NOT_FOUND);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "other"));
}
END_TEST

// The hash covers the text and the imported definitions, independent of their paths.
START_TEST(the_hash_follows_texts) {
  static const char importing[] =
      "import torch\nimport tool\nfrom helper import f\nfrom .pack import part\nfrom absent import "
      "g\n"
      "from stars import *\n\nWIDTH = g(\n    3\n)\n\n"
      "@jit\ndef k(x, n, b, f, BLOCK: constexpr, MODE: constexpr):\n    f(part.h)\n\n"
      "def cpu():\n    tool.run()\n";
  static const struct {
    const char *name, *text;
  } files[] = {{"helper.py", "from deeper import f\nfrom other import cpu_only\n"},
               {"deeper.py", "from helper import f\n"},
               {"other.py", "cpu_only = 1\n"},
               {"tool.py", ""},
               {"stars.py", "from above import THREE\n"},
               {"above.py", "THREE = 3\n"},
               {"pack/__init__.py", ""},
               {"pack/part.tile", "from .beside import w\n@jit\ndef h():\n    return w()\n"},
               {"pack/beside.tile", "@jit\ndef w():\n    return 1\n"}};
  tile_arg args[] = {tile_arg_pointer(NULL, TILE_F16), tile_arg_i32(1), tile_arg_i32(1),
                     tile_arg_f32(1)};
  const char *locations[] = {path_in("one"), path_in("two")};
  uint8_t hashes[2][32];
  for (int i = 0; i < 2; i++) {
    ck_assert_int_eq(dir_create(arena_printf(a, "%s/pack", locations[i]), 0777), 0);
    for (size_t n = 0; n < COUNT_OF(files); n++)
      write_text(arena_printf(a, "%s/%s", locations[i], files[n].name), files[n].text);
    struct tune_key k =
        key_of(arena_printf(a, "%s/k.tile", locations[i]), importing, args, NULL, 0);
    memcpy(hashes[i], k.hash, 32);
  }
  ck_assert_mem_eq(hashes[0], hashes[1], 32);
  static const struct {
    const char *name;
    bool matters;
  } changes[] = {{"one/tool.py", false},         {"one/other.py", false},
                 {"one/helper.py", true},        {"one/deeper.py", true},
                 {"one/stars.py", true},         {"one/above.py", true},
                 {"one/pack/beside.tile", true}, {"one/pack/part.tile", true},
                 {"one/pack/__init__.py", true}, {"one/absent.tile", true}};
  for (size_t i = 0; i < COUNT_OF(changes); i++) {
    struct str before = {0};
    ck_assert(file_read(a, path_in(changes[i].name), 1000, &before) == 0 || i == 9);
    write_text(path_in(changes[i].name), arena_printf(a, "%.*s# changed\n", STR_ARG(before)));
    struct tune_key k = key_of(path_in("one/k.tile"), importing, args, NULL, 0);
    ck_assert_msg((memcmp(k.hash, hashes[0], 32) != 0) == changes[i].matters, "%s",
                  changes[i].name);
    memcpy(hashes[0], k.hash, 32);
  }
  struct tune_key k = key_of(path_in("two/k.tile"), kernel, args, NULL, 0);
  ck_assert_mem_ne(k.hash, hashes[1], 32);
}
END_TEST

START_TEST(paths) {
  static const char *const cases[][2] = {{"dir/matmul.tile", "dir/matmul.tune.json"},
                                         {"a.b/matmul", "a.b/matmul.tune.json"},
                                         {"matmul.py", "matmul.tune.json"},
                                         {"x/.hidden", "x/.hidden.tune.json"},
                                         {".hidden", ".hidden.tune.json"},
                                         {"a.b.tile", "a.b.tune.json"}};
  for (size_t i = 0; i < COUNT_OF(cases); i++)
    ck_assert_str_eq(tune_file_path(a, cases[i][0]), cases[i][1]);
}
END_TEST

// ---- look-up ----

START_TEST(the_entry_of_a_key) {
  struct tune_entry entries[] = {entry_for(1024, 1024, 1, 1), entry_for(4096, 4096, 1, 2),
                                 entry_for(2048, 2048, 2, 3), entry_for(0, -5, 1, 4)};
  struct tune_file f = file_of(entries, 4);
  struct tune_entry want = entry_for(4096, 4096, 1, 0);
  ck_assert(tune_file_find(&f, &want.key, false)->ms == 2);
  want = entry_for(2048, 2048, 1, 0); // that one is stale
  ck_assert_ptr_null(tune_file_find(&f, &want.key, false));
  want = entry_for(1500, 1500, 1, 0);
  ck_assert(tune_file_find(&f, &want.key, true)->ms == 1);
  want = entry_for(2900, 2900, 1, 0);
  ck_assert(tune_file_find(&f, &want.key, true)->ms == 2);
  want = entry_for(2900, 1449, 1, 0); // 1024 is too far for M, 4096 for N
  ck_assert_ptr_null(tune_file_find(&f, &want.key, true));
  want = entry_for(8193, 4096, 1, 0);
  ck_assert_ptr_null(tune_file_find(&f, &want.key, true));
  want = entry_for(8192, 4096, 1, 0);
  ck_assert(tune_file_find(&f, &want.key, true)->ms == 2);
  want = entry_for(0, -5, 1, 0);
  ck_assert(tune_file_find(&f, &want.key, true)->ms == 4);
  want = entry_for(0, -4, 1, 0); // no logarithm
  ck_assert_ptr_null(tune_file_find(&f, &want.key, true));
}
END_TEST

// An entry that spills registers is used for its own key, and for one near it only if there is no
// other.
START_TEST(spills_serve_last) {
  struct tune_entry entries[] = {entry_for(1024, 1024, 1, 1), entry_for(2048, 2048, 1, 2)};
  entries[1].spilled_bytes = 16;
  struct tune_file f = file_of(entries, 2);
  struct tune_entry want = entry_for(2048, 2048, 1, 0);
  ck_assert(tune_file_find(&f, &want.key, true)->ms == 2);
  want = entry_for(2000, 2000, 1, 0);
  ck_assert(tune_file_find(&f, &want.key, true)->ms == 1);
  want = entry_for(4000, 4000, 1, 0);
  ck_assert(tune_file_find(&f, &want.key, true)->ms == 2);
  ck_assert_ptr_nonnull(strstr(print(&f), "\"default_ms\": 4, \"spilled_bytes\": 16, "));
}
END_TEST

// Every part of the key counts.
START_TEST(other_keys_do_not_serve) {
  struct tune_setting fixed[] = {{"MODE", "1"}};
  struct tune_entry e = entry_for(8, 8, 1, 1);
  struct tune_file f = file_of(&e, 1);
  for (int part = 0; part < 7; part++) {
    struct tune_key k = e.key;
    switch (part) {
    case 0: k.kernel = "l"; break;
    case 1: k.device = "another"; break;
    case 2: k.target = "sm_90a"; break;
    case 3: k.types = "*f32,i32,i32"; break;
    case 4: k.fixed = fixed, k.fixed_count = 1; break;
    case 5: k.value_count = 1; break;
    case 6: k.hash[31] ^= 1; break;
    }
    ck_assert_msg(!tune_file_find(&f, &k, true), "part %d", part);
  }
}
END_TEST

// ---- texts ----

static void same_entry(const struct tune_entry *x, const struct tune_entry *y) {
  ck_assert_int_eq(tune_key_order(&x->key, &y->key), 0);
  ck_assert_mem_eq(x->key.hash, y->key.hash, 32);
  ck_assert_uint_eq(x->setting_count, y->setting_count);
  for (size_t i = 0; i < x->setting_count; i++) {
    ck_assert_str_eq(x->settings[i].name, y->settings[i].name);
    ck_assert_str_eq(x->settings[i].value, y->settings[i].value);
  }
  ck_assert(x->ms == y->ms && x->default_ms == y->default_ms);
  ck_assert(x->spilled_bytes == y->spilled_bytes);
  ck_assert_str_eq(x->version, y->version);
}

START_TEST(what_is_written_comes_back) {
  struct tune_setting fixed[] = {{"MODE", "a \\ \"quoted\"\nline"}};
  struct tune_entry entries[] = {entry_for(INT64_MAX, INT64_MIN, 0xff, 1e-9),
                                 entry_for(1, 2, 0, 12345e9), entry_for(1, 2, 7, 0.25)};
  entries[1].key.fixed = fixed;
  entries[1].key.fixed_count = 1;
  entries[2].default_ms = 0;
  entries[1].spilled_bytes = INT64_MAX;
  entries[2].setting_count = 0;
  struct tune_file f = file_of(entries, 3), got;
  const char *text = print(&f);
  ck_assert_msg(parse(str_from(text), &got), "%s", diag_first_error(diag));
  ck_assert_uint_eq(got.count, 3);
  for (size_t i = 0; i < 3; i++)
    same_entry(&f.entries[i], &got.entries[i]);
  ck_assert_str_eq(print(&got), text);
  unsigned lines = 0;
  for (const char *p = text; *p; p++)
    lines += *p == '\n';
  ck_assert_uint_eq(lines, 5); // one an entry
}
END_TEST

START_TEST(times_have_five_digits) {
  struct tune_entry e = entry_for(1, 1, 1, 0.28123456);
  e.default_ms = 1234567.8;
  struct tune_file f = file_of(&e, 1);
  ck_assert_ptr_nonnull(strstr(print(&f), "\"ms\": 0.28123, \"default_ms\": 1234600,"));
}
END_TEST

// Of those with the same key and hash the fastest stays, of those that do not spill if there are
// any; another hash is another entry.
START_TEST(duplicates) {
  struct tune_entry entries[] = {entry_for(1, 1, 1, 3), entry_for(1, 1, 1, 1),
                                 entry_for(1, 1, 2, 2), entry_for(1, 1, 1, 2)};
  struct tune_file f = file_of(entries, 4);
  ck_assert_uint_eq(f.count, 2);
  ck_assert(f.entries[0].ms == 1 && f.entries[1].ms == 2);
  struct tune_entry spilling[] = {entry_for(1, 1, 1, 3), entry_for(1, 1, 1, 1),
                                  entry_for(1, 1, 2, 2), entry_for(1, 1, 1, 2)};
  spilling[1].spilled_bytes = spilling[2].spilled_bytes = 8;
  f = file_of(spilling, 4);
  ck_assert_uint_eq(f.count, 2);
  ck_assert(f.entries[0].ms == 2 && f.entries[1].ms == 2);
}
END_TEST

// ---- malformed texts ----

// Rejected, with one error whose location is within the text; or accepted, and then written text is
// accepted too.
static bool refuses(struct str text) {
  struct arena *outer = a;
  struct diag_engine *outer_diag = diag;
  a = arena_create();
  diag = diag_engine_create(a);
  struct tune_file f, again;
  bool ok = parse(text, &f);
  struct strbuf out = {0};
  diag_render_text(diag, (struct diag_style){0}, &out);
  ck_assert_msg(ok == (diag_error_count(diag) == 0), "%s", strbuf_cstr(&out));
  if (ok) {
    const char *first = print(&f);
    ck_assert_msg(parse(str_from(first), &again), "%s", first);
    ck_assert_str_eq(print(&again), first);
  } else {
    ck_assert_uint_eq(f.count, 0);
    ck_assert_msg(strstr(strbuf_cstr(&out), "k.tune.json:"), "no location: %s", strbuf_cstr(&out));
    ck_assert_msg(diag_first_error_code(diag) == E0760 || diag_first_error_code(diag) == E0761,
                  "%s", strbuf_cstr(&out));
  }
  strbuf_finish(&out);
  arena_destroy(a);
  a = outer;
  diag = outer_diag;
  return !ok;
}

static const char *whole(void) {
  static struct tune_setting fixed[] = {{"MODE", "2"}};
  struct tune_entry entries[] = {entry_for(3, 4, 0xab, 0.5), entry_for(1, 2, 1, 1)};
  entries[0].key.fixed = fixed;
  entries[0].key.fixed_count = 1;
  entries[0].spilled_bytes = 16;
  struct tune_file f = file_of(entries, 2);
  return print(&f);
}

START_TEST(a_text_that_ends_anywhere) {
  const char *text = whole();
  size_t n = strlen(text);
  ck_assert(!refuses((struct str){text, n}));
  ck_assert(!refuses((struct str){text, n - 1})); // without the last newline
  for (size_t i = 0; i + 1 < n; i++) {
    char *part = malloc(i + 1); // exact, so that a sanitizer sees reads past the end
    memcpy(part, text, i);
    ck_assert_msg(refuses((struct str){part, i}), "%zu of %zu bytes", i, n);
    free(part);
  }
}
END_TEST

START_TEST(values_of_other_kinds) {
  static const char *const values[] = {"null",
                                       "true",
                                       "0",
                                       "-1",
                                       "1.5",
                                       "1e999",
                                       "-1e999",
                                       "99999999999999999999",
                                       "\"\"",
                                       "\"nul \\u0000\"",
                                       "\"ABCDEF\"",
                                       "[]",
                                       "[1]",
                                       "{}",
                                       "{\"a\": 1, \"a\": 2}",
                                       "{\"a\": 1.5}",
                                       "{\"a\": []}",
                                       "{\"a\\u0000\": 1}"};
  static const char *const members[] = {"tile_tune",  "entries", "kernel", "target",       "device",
                                        "types",      "fixed",   "key",    "config",       "ms",
                                        "default_ms", "tuned",   "hash",   "spilled_bytes"};
  struct json_error error;
  const char *text = whole();
  unsigned refused = 0;
  for (size_t m = 0; m < COUNT_OF(members); m++)
    for (size_t v = 0; v < COUNT_OF(values); v++) {
      const struct json *top = json_parse(a, str_from(text), &error);
      const struct json *at = json_get(top, members[m]);
      for (size_t i = 0; !at && i < 2; i++)
        at = json_get(json_get(top, "entries")->items[i], members[m]);
      ck_assert_ptr_nonnull(at);
      const char *changed =
          arena_printf(a, "%.*s%s%s", (int)at->begin, text, values[v], text + at->end);
      refused += refuses(str_from(changed));
    }
  // Taken are two texts for each of five names, empty objects for three and no entries at all, and
  // two numbers for each of two times, and no spilled bytes.
  ck_assert_uint_eq(refused, 14 * 18 - 5 * 2 - 3 - 1 - 2 * 2 - 1);
}
END_TEST

START_TEST(members_that_are_missing) {
  static const char *const members[] = {"kernel", "target", "device", "types", "key",
                                        "config", "ms",     "tuned",  "hash"};
  for (size_t m = 0; m < COUNT_OF(members); m++) {
    char *text = arena_strdup(a, whole());
    char *at = strstr(text, arena_printf(a, "\"%s\"", members[m]));
    at[1] = 'z';
    ck_assert_msg(refuses(str_from(text)), "%s", members[m]);
  }
}
END_TEST

START_TEST(random_changes) {
  const char *text = whole();
  static const char bytes[] = "{}[]\",:\\u0e-+.tfn 1\x00\xff";
  size_t n = strlen(text);
  uint64_t state = 11;
  unsigned taken = 0;
  for (int round = 0; round < 4000; round++) {
    char *copy = malloc(n);
    memcpy(copy, text, n);
    for (int change = 0; change <= round % 4; change++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      copy[(state >> 40) % n] = bytes[(state >> 33) % (sizeof bytes - 1)];
    }
    taken += !refuses((struct str){copy, n});
    free(copy);
  }
  ck_assert(taken > 20 && taken < 2000);
}
END_TEST

START_TEST(depth_and_size_have_limits) {
  struct strbuf deep = {0};
  strbuf_puts(&deep, "{\"tile_tune\": 1, \"entries\": ");
  for (int i = 0; i < 200000; i++)
    strbuf_puts(&deep, i % 2 ? "[" : "{\"a\":");
  ck_assert(refuses((struct str){deep.ptr, deep.len}));
  strbuf_finish(&deep);
  const char *path = path_in("large.tune.json");
  int fd = open(path, O_WRONLY | O_CREAT, 0600);
  ck_assert_int_eq(ftruncate(fd, (off_t)TUNE_FILE_MAX_BYTES + 1), 0);
  close(fd);
  struct tune_file f;
  ck_assert(!tune_file_read(a, diag, path, &f));
  ck_assert_int_eq(diag_first_error_code(diag), E0901);
}
END_TEST

// ---- putting ----

START_TEST(put_replaces_its_key_and_keeps_the_others) {
  const char *path = path_in("k.tune.json");
  struct tune_entry first = entry_for(1, 1, 1, 5), other = entry_for(2, 2, 1, 6),
                    slower = entry_for(1, 1, 1, 7), newer = entry_for(1, 1, 2, 8);
  struct tune_file f;
  ck_assert_int_eq(tune_file_put(path, &first), TILE_OK);
  ck_assert_int_eq(tune_file_put(path, &other), TILE_OK);
  ck_assert_int_eq(tune_file_put(path, &slower), TILE_OK); // the latest measurement counts
  ck_assert(tune_file_read(a, diag, path, &f));
  ck_assert_uint_eq(f.count, 2);
  ck_assert(tune_file_find(&f, &first.key, false)->ms == 7);
  ck_assert_int_eq(tune_file_put(path, &newer), TILE_OK); // for another text of the kernel
  ck_assert(tune_file_read(a, diag, path, &f));
  ck_assert_uint_eq(f.count, 2);
  ck_assert_ptr_null(tune_file_find(&f, &first.key, false));
  same_entry(tune_file_find(&f, &newer.key, false), &newer);
  same_entry(tune_file_find(&f, &other.key, false), &other);
  ck_assert(!file_exists(path_in("k.tune.json.lock")));
}
END_TEST

START_TEST(a_missing_file_is_empty) {
  struct tune_file f;
  ck_assert(tune_file_read(a, diag, path_in("none.tune.json"), &f));
  ck_assert_uint_eq(f.count, 0);
  ck_assert(tune_file_read(a, diag, path_in("none/none.tune.json"), &f));
  struct tune_entry e = entry_for(1, 1, 1, 1);
  ck_assert_int_eq(tune_file_put(path_in("none/none.tune.json"), &e), TILE_IO_ERROR);
  ck_assert(!tune_file_read(a, diag, folder, &f));
  ck_assert_int_eq(diag_first_error_code(diag), E0710);
}
END_TEST

START_TEST(a_malformed_file_stays_as_it_is) {
  const char *path = path_in("k.tune.json");
  struct tune_entry e = entry_for(1, 1, 1, 1);
  static const char *const texts[] = {"{\"tile_tune\": 1, \"entries\": [\n<<<<<<< ours\n",
                                      "{\"tile_tune\": 2, \"entries\": []}", ""};
  for (size_t i = 0; i < COUNT_OF(texts); i++) {
    write_text(path, texts[i]);
    ck_assert_int_eq(tune_file_put(path, &e), TILE_IO_ERROR);
    ck_assert_msg(strstr(tile_error_message(), "k.tune.json:"), "%s", tile_error_message());
    ck_assert_str_eq(read_text(path), texts[i]);
    ck_assert(!file_exists(path_in("k.tune.json.lock")));
  }
}
END_TEST

START_TEST(links_and_permissions_stay) {
  const char *path = path_in("real.json"), *link = path_in("k.tune.json");
  struct tune_entry e = entry_for(1, 1, 1, 1);
  struct stat st;
  write_text(path, "{\"tile_tune\": 1, \"entries\": []}");
  ck_assert_int_eq(chmod(path, 0604), 0);
  ck_assert_int_eq(symlink("real.json", link), 0);
  ck_assert_int_eq(tune_file_put(link, &e), TILE_OK);
  ck_assert_int_eq(lstat(link, &st), 0);
  ck_assert(S_ISLNK(st.st_mode));
  ck_assert_int_eq(stat(path, &st), 0);
  ck_assert_uint_eq(st.st_mode & 0777, 0604);
  ck_assert_ptr_nonnull(strstr(read_text(path), "\"kernel\": \"k\""));
}
END_TEST

// A lock file left by a killed process is taken over.
START_TEST(a_lock_file_that_was_left) {
  const char *path = path_in("k.tune.json");
  struct tune_entry e = entry_for(1, 1, 1, 1);
  struct tune_file f;
  write_text(path_in("k.tune.json.lock"),
             "{\"tile_tune\": 1, \"entries\": [{\"kernel\": \"half an");
  ck_assert_int_eq(tune_file_put(path, &e), TILE_OK);
  ck_assert(tune_file_read(a, diag, path, &f));
  ck_assert_uint_eq(f.count, 1);
  ck_assert(!file_exists(path_in("k.tune.json.lock")));
}
END_TEST

static void reading(TCase *t) {
  tcase_add_test(t, what_is_written_comes_back);
  tcase_add_test(t, times_have_five_digits);
  tcase_add_test(t, duplicates);
  tcase_add_test(t, a_text_that_ends_anywhere);
  tcase_add_test(t, values_of_other_kinds);
  tcase_add_test(t, members_that_are_missing);
  tcase_add_test(t, random_changes);
  tcase_add_test(t, depth_and_size_have_limits);
}

Suite *database_suite(void) {
  Suite *s = suite_create("database");
  TCase *t = tcase_create("files");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_set_timeout(t, 60);
  tcase_add_test(t, a_key_has_types_hints_numbers_and_what_was_fixed);
  tcase_add_test(t, a_kernel_that_is_not_there);
  tcase_add_test(t, the_hash_follows_texts);
  tcase_add_test(t, paths);
  tcase_add_test(t, the_entry_of_a_key);
  tcase_add_test(t, spills_serve_last);
  tcase_add_test(t, other_keys_do_not_serve);
  reading(t);
  tcase_add_test(t, put_replaces_its_key_and_keeps_the_others);
  tcase_add_test(t, a_missing_file_is_empty);
  tcase_add_test(t, a_malformed_file_stays_as_it_is);
  tcase_add_test(t, links_and_permissions_stay);
  tcase_add_test(t, a_lock_file_that_was_left);
  suite_add_tcase(s, t);
  return s;
}
