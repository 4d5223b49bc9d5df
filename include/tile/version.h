/* SPDX-License-Identifier: Apache-2.0 */
/* The version of these headers, for the preprocessor; tile_version() is that of the library that a
 * program runs with. Within a major version, and from 1.0 on, later libraries run older programs. */
#ifndef TILE_VERSION_H
#define TILE_VERSION_H

#define TILE_VERSION_MAJOR 0
#define TILE_VERSION_MINOR 2
#define TILE_VERSION_PATCH 0
#define TILE_VERSION_STRING "0.2.0"

/* 10203 for 1.2.3. */
#define TILE_VERSION_NUMBER                                                                        \
  (TILE_VERSION_MAJOR * 10000 + TILE_VERSION_MINOR * 100 + TILE_VERSION_PATCH)
#define TILE_VERSION_AT_LEAST(major, minor, patch)                                                 \
  (TILE_VERSION_NUMBER >= (major) * 10000 + (minor) * 100 + (patch))

#endif
