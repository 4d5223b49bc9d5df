// SPDX-License-Identifier: Apache-2.0
// Scenarios whose allocations main.c makes fail, one at a time.
#ifndef TILE_TESTS_OUT_OF_MEMORY_INJECTION_H
#define TILE_TESTS_OUT_OF_MEMORY_INJECTION_H

#include <tile/runtime.h>

#include <stdbool.h>
#include <stddef.h>

#define MAX_WORDS 32

struct scenario {
  const char *name;
  // Arguments of tilec, NULL-terminated; @ at the start of a word means the project's root. Or a
  // function on the C API, which prints its results.
  const char *words[MAX_WORDS];
  tile_status (*call)(void);
  const char *setup[MAX_WORDS]; // tilec is called with these before, without failures
  const char *spare; // files with this prefix may be missing: entries of a cache
  bool is_timed;     // output has times, which differ from run to run: files are not compared
};

extern const struct scenario scenarios[];
extern const unsigned scenario_count;

// ---- files.c ----
enum { MAX_FILES = 64 };

struct file {
  char name[512];
  char *data;
  size_t size;
};

struct files {
  struct file at[MAX_FILES];
  unsigned count;
};

struct file_names {
  char at[MAX_FILES][256];
  unsigned count;
};

void die(const char *what); // ends the test
void read_files(const char *folder, const char *prefix, struct files *ret);
void write_files(const char *folder, const struct files *f);
void read_names(const char *folder, const char *prefix, struct file_names *ret); // adds
bool has_name(const struct file_names *in, const char *name);
const struct file *find_file(const struct files *in, const char *name); // NULL: none
bool same_file(const struct file *a, const struct file *b);
void free_files(struct files *f);
void remove_folder(const char *folder);

// ---- api.c ----
tile_status call_kernel(void);   // opened from text, compiled for the CPU, launched
tile_status call_cached(void);   // the same by the disk cache, twice; what is on disk is whole
tile_status call_imported(void); // the same from a file that imports another, twice in one run
tile_status call_program(void);  // a graph's text, compiled and run
tile_status call_opened(void);   // a graph's file
tile_status call_captured(void); // a C function on tensors
tile_status call_replay(void);
tile_status call_pack(void); // kernels.tpk, loaded by a stand-in for the CUDA driver and launched
tile_status call_weights(void); // weights.safetensors
tile_status call_tuned(void);   // add.tune.json

#endif
