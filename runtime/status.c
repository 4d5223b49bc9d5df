// SPDX-License-Identifier: Apache-2.0
// Names of status codes, and the calling thread's last failure: its message, and the JSON document
// of it, which is written when it is asked for.
#include "base/json.h"
#include "base/memory.h"
#include "runtime/runtime_internal.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_BYTES 8192

// Per thread, so that another thread's failure does not overwrite it.
static _Thread_local struct failure {
  tile_status status;
  char message[MESSAGE_BYTES];
  char *records;  // diagnostics as a JSON array; NULL: none
  char *document; // of the last tile_error_json; NULL: none
} last;

// ---- what is on the heap is freed when the thread ends ----

static pthread_key_t ended;
static bool has_key; // without one, it is lost
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void forget(void *failure) {
  struct failure *f = failure;
  free(f->records);
  free(f->document);
  f->records = f->document = NULL;
}

static void make_key(void) { has_key = pthread_key_create(&ended, forget) == 0; }

static void forget_at_end(void) {
  pthread_once(&once, make_key);
  if (has_key)
    pthread_setspecific(ended, &last);
}

// ---- failures ----

tile_status status_set(tile_status status, const char *fmt, ...) {
  // Formats into a temporary first: arguments may point into the previous message.
  char text[MESSAGE_BYTES];
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  if (n < 0)
    text[0] = '\0';
  else if ((size_t)n >= sizeof text)
    memcpy(text + sizeof text - 4, "...", 4);
  memcpy(last.message, text, strlen(text) + 1);
  last.status = status;
  if (last.records)
    forget(&last);
  return status;
}

tile_status status_set_diagnostics(tile_status status, const char *text, const char *records) {
  status_set(status, "%s", text);
  last.records = records ? memory_strdup(records) : NULL; // NULL without memory, too
  if (last.records)
    forget_at_end();
  return status;
}

const char *tile_error_message(void) { return last.message; }

const char *tile_error_json(void) {
  struct strbuf text = {0};
  struct json_writer w = {.out = &text};
  json_begin_object(&w);
  json_key(&w, "status");
  json_cstring(&w, tile_status_name(last.status));
  json_key(&w, "message");
  json_cstring(&w, last.message);
  json_key(&w, "diagnostics");
  json_raw(&w, last.records ? last.records : "[]");
  json_end_object(&w);
  free(last.document);
  last.document = strbuf_take(&text);
  forget_at_end();
  return last.document ? last.document
                       : "{\"status\": \"out of memory\", \"message\": \"\", \"diagnostics\": []}";
}

const char *tile_version(void) { return TILE_PROJECT_VERSION; }

const char *tile_status_name(tile_status status) {
  switch (status) {
  case TILE_OK: return "ok";
  case TILE_INVALID_ARGUMENT: return "invalid argument";
  case TILE_COMPILE_ERROR: return "compile error";
  case TILE_NO_DEVICE: return "no device";
  case TILE_DRIVER_TOO_OLD: return "driver too old";
  case TILE_OUT_OF_MEMORY: return "out of memory";
  case TILE_OUT_OF_DEVICE_MEMORY: return "out of device memory";
  case TILE_LAUNCH_FAILED: return "launch failed";
  case TILE_CHECK_FAILED: return "check failed";
  case TILE_NOT_FOUND: return "not found";
  case TILE_IO_ERROR: return "input/output error";
  case TILE_LIMIT: return "limit reached";
  case TILE_INTERNAL: return "internal error";
  }
  return "unknown status";
}
