// SPDX-License-Identifier: Apache-2.0
// The main program of a fuzz driver in ordinary builds: runs it over files and folders.
//   replay-NAME [--mutate N] [--first I] [--seed S] [--seconds T] PATH...
// `--mutate N` also runs N mutations of those inputs, without coverage feedback, of which I is the
// first.
// An input that crashes or takes more than a minute is reported; a mutated one is written to the
// working folder as crash-NAME.
#define _GNU_SOURCE // sigaltstack
#include "drive.h"
#include "mutate.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { INPUT_LIMIT = 1 << 20, SLOW_SECONDS = 60 };

struct input {
  char *path;
  uint8_t *data;
  size_t size;
};

static struct input *inputs;
static size_t input_count;
static char running[300]; // for the handler
static const uint8_t *running_data;
static size_t running_size;
static uint64_t random_state;

static uint64_t next_random(void) {
  return random_state = random_state * 6364136223846793005u + 1442695040888963407u;
}

static void crashed(int number) {
  static const char text[] = "replay: crashed or too slow: ";
  (void)!write(2, text, sizeof text - 1);
  (void)!write(2, running, strlen(running));
  (void)!write(2, "\n", 1);
  FILE *f = fopen("crash-input", "wb");
  if (f) {
    fwrite(running_data, 1, running_size, f);
    fclose(f);
  }
  signal(number, SIG_DFL);
  raise(number == SIGALRM ? SIGABRT : number);
}

static void run(const char *name, const uint8_t *data, size_t size) {
  snprintf(running, sizeof running, "%s", name);
  // A copy of its exact size, so that a sanitizer detects out-of-bounds reads.
  uint8_t *copy = malloc(size ? size : 1);
  if (!copy)
    exit(1);
  memcpy(copy, data, size);
  running_data = data;
  running_size = size;
  alarm(SLOW_SECONDS);
  LLVMFuzzerTestOneInput(copy, size);
  alarm(0);
  free(copy);
}

static void add_file(const char *path) {
  FILE *f = fopen(path, "rb");
  uint8_t *data = malloc(INPUT_LIMIT);
  struct input *more = realloc(inputs, (input_count + 1) * sizeof *inputs);
  if (!f || !data || !more)
    exit(1);
  inputs = more;
  size_t size = fread(data, 1, INPUT_LIMIT, f);
  fclose(f);
  inputs[input_count++] = (struct input){strdup(path), realloc(data, size ? size : 1), size};
}

static void add(const char *path) {
  struct stat st;
  if (stat(path, &st) != 0)
    return;
  if (!S_ISDIR(st.st_mode)) {
    add_file(path);
    return;
  }
  struct dirent **names;
  int count = scandir(path, &names, NULL, alphasort);
  for (int i = 0; i < count; i++) {
    char inner[4096];
    snprintf(inner, sizeof inner, "%s/%s", path, names[i]->d_name);
    if (names[i]->d_name[0] != '.')
      add(inner);
    free(names[i]);
  }
  if (count >= 0)
    free(names);
}

// Flips bits, sets, inserts and deletes bytes, splices another input in.
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max) {
  for (unsigned n = 1 + (unsigned)(next_random() >> 60); n > 0; n--) {
    size_t at = size ? (size_t)(next_random() >> 20) % size : 0;
    unsigned kind = (unsigned)(next_random() >> 40) % 5;
    const struct input *other = &inputs[(size_t)(next_random() >> 20) % input_count];
    if (kind == 0 && size) {
      data[at] ^= (uint8_t)(1u << (next_random() >> 61));
    } else if (kind == 1 && size) {
      data[at] = (uint8_t)(next_random() >> 50);
    } else if (kind == 2 && size > 1) {
      size_t length = 1 + (size_t)(next_random() >> 20) % 8;
      length = length < size - at ? length : size - at;
      memmove(data + at, data + at + length, size - at - length);
      size -= length;
    } else if (kind == 3 && size < max) {
      memmove(data + at + 1, data + at, size - at);
      data[at] = (uint8_t)(next_random() >> 50);
      size++;
    } else if (other->size) {
      size_t from = (size_t)(next_random() >> 20) % other->size,
             length = 1 + (size_t)(next_random() >> 20) % 64;
      length = length < other->size - from ? length : other->size - from;
      length = length < max - at ? length : max - at;
      memcpy(data + at, other->data + from, length);
      size = at + length > size ? at + length : size;
    }
  }
  return size;
}

static unsigned long mutate(unsigned long first, unsigned long count, uint64_t seed,
                            double seconds) {
  static uint8_t data[INPUT_LIMIT];
  time_t start = time(NULL);
  for (unsigned long i = first; i - first < count; i++) {
    char name[100];
    random_state = (seed << 32) + i;
    (void)next_random(), (void)next_random();
    const struct input *in = &inputs[(size_t)(next_random() >> 20) % input_count];
    size_t size = in->size;
    memcpy(data, in->data, size);
    size = LLVMFuzzerCustomMutator(data, size,
                                   INPUT_LIMIT < 2 * size + 1000 ? INPUT_LIMIT : 2 * size + 1000,
                                   (unsigned)next_random());
    snprintf(name, sizeof name, "mutation %lu of seed %llu (crash-input)", i,
             (unsigned long long)seed);
    run(name, data, size);
    if (seconds > 0 && difftime(time(NULL), start) > seconds)
      return i + 1 - first;
  }
  return count;
}

// On a stack of its own: endless recursion ends the other one.
static void handle_signals(void) {
  static char stack[1 << 16];
  const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
  sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
  for (size_t i = 0; i < COUNT_OF(signals); i++)
    sigaction(signals[i], &(struct sigaction){.sa_handler = crashed, .sa_flags = SA_ONSTACK}, NULL);
}

int main(int argc, char **argv) {
  unsigned long count = 0, first = 0;
  uint64_t seed = 0;
  double seconds = 0;
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "--mutate") == 0 && i + 1 < argc)
      count = strtoul(argv[++i], NULL, 10);
    else if (strcmp(argv[i], "--first") == 0 && i + 1 < argc)
      first = strtoul(argv[++i], NULL, 10);
    else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
      seed = strtoull(argv[++i], NULL, 10);
    else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
      seconds = strtod(argv[++i], NULL);
    else
      add(argv[i]);
  if (input_count == 0) {
    fprintf(stderr, "replay: no inputs\n");
    return 2;
  }
  handle_signals();
  for (size_t i = 0; i < input_count; i++)
    run(inputs[i].path, inputs[i].data, inputs[i].size);
  unsigned long made = mutate(first, count, seed, seconds);
  printf("%zu inputs, %lu mutations\n", input_count, made);
  for (size_t i = 0; i < input_count; i++) {
    free(inputs[i].path);
    free(inputs[i].data);
  }
  free(inputs);
  return 0;
}
