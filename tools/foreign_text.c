// SPDX-License-Identifier: Apache-2.0
// Recognises texts that are no kernel, or no graph, by words that begin their lines: those of other
// compilers, graphs given as kernels, kernels and sources of models given as graphs.
#include "tools/foreign_text.h"

#include <string.h>

#define MAX_SCANNED (1u << 20) // bytes of a text that are looked at

struct text_facts {
  bool has_function;  // a line that begins with `def `
  bool has_kernel;    // `jit`, as a decorator or in a call
  bool has_forward;   // `def forward(`
  bool has_operator;  // `torch.ops.`
  bool has_init;      // `def __init__(`
  bool imports_torch; // at the margin
  bool has_ptx, has_ttir, has_cuda, has_llvm, has_tile_words;
};

static bool has(struct str s, const char *word) {
  size_t n = strlen(word);
  for (size_t i = 0; i + n <= s.len; i++)
    if (memcmp(s.ptr + i, word, n) == 0)
      return true;
  return false;
}

static void read_line(struct text_facts *f, struct str line) {
  struct str words = str_trim(line);
  bool is_comment = str_starts(words, "#") || str_starts(words, "//");
  if (is_comment || !words.len)
    return;
  f->has_function |= str_starts(words, "def ");
  f->has_kernel |= (words.ptr[0] == '@' && has(words, "jit")) || has(words, "jit(");
  f->has_forward |= str_starts(words, "def forward(");
  f->has_init |= str_starts(words, "def __init__(");
  f->imports_torch |= str_starts(line, "import torch") || str_starts(line, "from torch");
  f->has_operator |= has(words, "torch.ops.");
  f->has_ptx |= str_starts(words, ".version ") || str_starts(words, ".visible .entry");
  f->has_ttir |= str_starts(words, "tt.func") || str_starts(words, "ttg.") || has(words, "= tt.");
  f->has_cuda |= has(words, "__global__") || has(words, "__device__");
  f->has_llvm |= str_starts(words, "target triple");
  f->has_tile_words |=
      has(words, "tl.program_id") || has(words, "program_id(") || has(words, ": ptr[");
}

static struct text_facts facts_of(struct str text) {
  struct text_facts f = {0};
  struct str rest = {text.ptr, text.len < MAX_SCANNED ? text.len : MAX_SCANNED}, line;
  while (rest.ptr) {
    rest = str_split(rest, '\n', &line);
    read_line(&f, line);
  }
  return f;
}

static enum text_kind foreign_code(const struct text_facts *f) {
  if (f->has_function)
    return TEXT_UNKNOWN;
  return f->has_ptx    ? TEXT_PTX
         : f->has_ttir ? TEXT_TTIR
         : f->has_cuda ? TEXT_CUDA
         : f->has_llvm ? TEXT_LLVM
                       : TEXT_UNKNOWN;
}

enum text_kind text_kind_of(struct str text) {
  struct text_facts f = facts_of(text);
  enum text_kind code = foreign_code(&f);
  if (code != TEXT_UNKNOWN)
    return code;
  bool is_script =
      f.has_function && f.imports_torch && !f.has_operator && !f.has_kernel && !f.has_tile_words;
  if (is_script && !f.has_forward)
    return TEXT_MODULE;
  if (f.has_forward && !f.has_kernel)
    return f.has_init || (f.imports_torch && !f.has_operator) ? TEXT_MODULE : TEXT_GRAPH;
  return f.has_kernel || f.has_tile_words ? TEXT_KERNEL : TEXT_UNKNOWN;
}
