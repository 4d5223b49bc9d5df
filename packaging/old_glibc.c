// SPDX-License-Identifier: Apache-2.0
// Functions of glibc that are newer than 2.31, for a release that runs on older systems
// (packaging/link-old-glibc): LLVM's archives and worker/process.c call them.
#include <dirent.h>
#include <malloc.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

// 2.32. False is always right: libstdc++ then counts references by atomic operations.
extern char __libc_single_threaded;
char __libc_single_threaded;

// 2.36. For seeds of names and hashes, not for keys.
uint32_t arc4random(void);
uint32_t arc4random(void) {
  uint32_t r = 0;
  return getrandom(&r, sizeof r, 0) == (ssize_t)sizeof r ? r : (uint32_t)(uintptr_t)&r;
}

// 2.33. Sizes above 2 GiB wrap around, as in the function that it stands for.
struct mallinfo2 mallinfo2(void) {
  struct mallinfo m = mallinfo();
  return (struct mallinfo2){.arena = (unsigned)m.arena,
                            .ordblks = (unsigned)m.ordblks,
                            .smblks = (unsigned)m.smblks,
                            .hblks = (unsigned)m.hblks,
                            .hblkhd = (unsigned)m.hblkhd,
                            .usmblks = (unsigned)m.usmblks,
                            .fsmblks = (unsigned)m.fsmblks,
                            .uordblks = (unsigned)m.uordblks,
                            .fordblks = (unsigned)m.fordblks,
                            .keepcost = (unsigned)m.keepcost};
}

// 2.34. Closes the descriptors that are open now; one that another thread opens meanwhile is not
// seen, which the flag O_CLOEXEC of all of ours makes up for.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from) {
  DIR *open_files = opendir("/proc/self/fd");
  int error = 0;
  for (struct dirent *e; open_files && !error && (e = readdir(open_files));) {
    int fd = atoi(e->d_name);
    if (e->d_name[0] != '.' && fd >= from && fd != dirfd(open_files))
      error = posix_spawn_file_actions_addclose(actions, fd);
  }
  if (open_files)
    closedir(open_files);
  return error;
}
