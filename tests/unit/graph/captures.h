// SPDX-License-Identifier: Apache-2.0
// The captured graphs that tests read: those of the folder that the environment variable
// TILE_GRAPHS names, else tests/graph/captures.
#ifndef TILE_TESTS_UNIT_GRAPH_CAPTURES_H
#define TILE_TESTS_UNIT_GRAPH_CAPTURES_H

enum { MAX_CAPTURES = 256 };

struct captures {
  const char *folder;
  char *names[MAX_CAPTURES]; // of files, in order
  int count;
};

void captures_find(struct captures *c);
void captures_finish(struct captures *c);

#endif
