// SPDX-License-Identifier: Apache-2.0
// Names of status codes and the calling thread's last message.
#include "runtime/runtime_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MESSAGE_BYTES 8192

// Per thread, so that another thread's failure does not overwrite the message.
static _Thread_local char last_message[MESSAGE_BYTES];

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
  memcpy(last_message, text, strlen(text) + 1);
  return status;
}

const char *tile_error_message(void) { return last_message; }

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
