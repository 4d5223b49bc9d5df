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

void read_files(const char *folder, const char *prefix, struct files *ret) {
  DIR *d = opendir(folder);
  if (!d)
    die(folder);
  for (struct dirent *e; (e = readdir(d));) {
    char path[1024], name[512];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    snprintf(name, sizeof name, "%s%s", prefix, e->d_name);
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || lstat(path, &st) != 0)
      continue;
    if (S_ISDIR(st.st_mode)) {
      strncat(name, "/", sizeof name - strlen(name) - 1);
      read_files(path, name, ret);
    } else if (ret->count == MAX_FILES) {
      die("too many files");
    } else {
      struct file *f = &ret->at[ret->count++];
      memcpy(f->name, name, sizeof f->name);
      read_into(f, path);
    }
  }
  closedir(d);
}

void read_names(const char *folder, const char *prefix, struct file_names *ret) {
  DIR *d = opendir(folder);
  for (struct dirent *e; d && (e = readdir(d));) {
    char path[1024], name[256];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    snprintf(name, sizeof name, "%s%s", prefix, e->d_name);
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || lstat(path, &st) != 0)
      continue;
    if (S_ISDIR(st.st_mode)) {
      strncat(name, "/", sizeof name - strlen(name) - 1);
      read_names(path, name, ret);
    } else if (ret->count < MAX_FILES) {
      memcpy(ret->at[ret->count++], name, sizeof name);
    }
  }
  if (d)
    closedir(d);
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
