// SPDX-License-Identifier: Apache-2.0
// The program tilec. All of it is in tilec.c, where tests can call it.
#include "tools/tool.h"

int main(int argc, char **argv) { return tilec_main(argc, argv); }
