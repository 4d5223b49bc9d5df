// SPDX-License-Identifier: Apache-2.0
// Saves and restores the files of a scenario's folder.
#include "injection.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void die(const char *what) {
  printf("Bail out! %s\n", what);
  exit(1);
}

static void read_into(struct file *f, const char *path) {
  FILE *in = fopen(path, "rb");
  struct stat st;
  if (!in || fstat(fileno(in), &st) != 0 || !(f->data = malloc((size_t)st.st_size + 1)))
    die(path);
  f->size = fread(f->data, 1, (size_t)st.st_size, in);
  f->data[f->size] = 0;
  fclose(in);
}

typedef void visit_fn(void *user, const char *path, const char *name);

// Calls `visit` for each file below the folder, with `name`: the path below the first folder.
static bool visit_files(const char *folder, const char *prefix, visit_fn *visit, void *user) {
  DIR *d = opendir(folder);
  for (struct dirent *e; d && (e = readdir(d));) {
    char path[1024], name[512];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    snprintf(name, sizeof name, "%s%s", prefix, e->d_name);
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || lstat(path, &st) != 0)
      continue;
    if (S_ISDIR(st.st_mode)) {
      strncat(name, "/", sizeof name - strlen(name) - 1);
      visit_files(path, name, visit, user);
    } else {
      visit(user, path, name);
    }
  }
  return d && closedir(d) == 0;
}

static void add_file(void *user, const char *path, const char *name) {
  struct files *all = user;
  if (all->count == MAX_FILES)
    die("too many files");
  struct file *f = &all->at[all->count++];
  snprintf(f->name, sizeof f->name, "%s", name);
  read_into(f, path);
}

void read_files(const char *folder, const char *prefix, struct files *ret) {
  if (!visit_files(folder, prefix, add_file, ret))
    die(folder);
}

static void add_name(void *user, const char *path, const char *name) {
  struct file_names *all = user;
  (void)path;
  if (all->count < MAX_FILES)
    snprintf(all->at[all->count++], sizeof all->at[0], "%s", name);
}

void read_names(const char *folder, const char *prefix, struct file_names *ret) {
  (void)visit_files(folder, prefix, add_name, ret);
}

bool has_name(const struct file_names *in, const char *name) {
  for (unsigned i = 0; i < in->count; i++)
    if (strcmp(in->at[i], name) == 0)
      return true;
  return false;
}

const struct file *find_file(const struct files *in, const char *name) {
  for (unsigned i = 0; i < in->count; i++)
    if (strcmp(in->at[i].name, name) == 0)
      return &in->at[i];
  return NULL;
}

bool same_file(const struct file *a, const struct file *b) {
  return a && b && a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

void free_files(struct files *f) {
  for (unsigned i = 0; i < f->count; i++)
    free(f->at[i].data);
  f->count = 0;
}

void remove_folder(const char *folder) {
  DIR *d = opendir(folder);
  for (struct dirent *e; d && (e = readdir(d));) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && unlink(path) != 0)
      remove_folder(path);
  }
  if (d)
    closedir(d);
  rmdir(folder);
}

void write_files(const char *folder, const struct files *f) {
  for (unsigned i = 0; i < f->count; i++) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, f->at[i].name);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(f->at[i].data, 1, f->at[i].size, out) != f->at[i].size || fclose(out) != 0)
      die(path);
  }
}
