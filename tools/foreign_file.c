// SPDX-License-Identifier: Apache-2.0
// Recognises files by their first bytes, and by the ends of their names.
#include "tools/foreign_file.h"

#include "tools/foreign_text.h"

static const char onnx[] = "an ONNX model", zip_arrays[] = "a NumPy archive of arrays",
                  checkpoint[] = "a file of PyTorch", array[] = "a NumPy array",
                  tensors[] = "a .safetensors file", elf[] = "machine code", pack[] = "a pack";

const char *foreign_kind(const char *path, struct str head) {
  struct str name = str_from(path);
  bool is_zip = head.len > 3 && memcmp(head.ptr, "PK\003\004", 4) == 0;
  if (str_ends(name, ".onnx"))
    return onnx;
  if (str_ends(name, ".npz"))
    return zip_arrays;
  if (str_ends(name, ".pt") || str_ends(name, ".pth") || str_ends(name, ".pt2") || is_zip)
    return checkpoint;
  if (head.len > 5 && memcmp(head.ptr, "\x93NUMPY", 6) == 0)
    return array;
  if (str_ends(name, ".safetensors"))
    return tensors;
  if (head.len > 3 && memcmp(head.ptr, "\177ELF", 4) == 0)
    return elf;
  return str_ends(name, ".tpk") ? pack : NULL;
}

static const char *graph_help(const char *kind) {
  if (kind == onnx)
    return "tilec reads graphs as PyTorch prints them: load the model in Python (`onnx2torch`), "
           "then\n`print(torch.export.export(model, inputs).run_decompositions())` into a file";
  if (kind == checkpoint)
    return "tilec reads graphs as PyTorch prints them:\n"
           "`print(torch.export.load(\"model.pt2\").run_decompositions())` into a file; weights go "
           "to "
           "`--weights`";
  if (kind == tensors || kind == array || kind == zip_arrays)
    return "the graph is a text that PyTorch prints; weights are given by `--weights FILE`";
  return "the graph is a text that PyTorch prints (docs/graphs.md)";
}

static const char *array_help(const char *kind) {
  if (kind == zip_arrays)
    return "save one array of it: `numpy.save(\"x.npy\", numpy.load(\"x.npz\")[\"x\"])`";
  if (kind == checkpoint)
    return "save the tensor as an array: `numpy.save(\"x.npy\", torch.load(\"x.pt\").numpy())`";
  if (kind == tensors)
    return "of a graph, `--weights FILE.safetensors` takes inputs by name";
  return "arrays are .npy files: `numpy.save(\"x.npy\", x)`";
}

static const char *weights_help(const char *kind) {
  if (kind == zip_arrays)
    return "save each array as NAME.npy in a folder, and give the folder";
  if (kind == checkpoint)
    return "`safetensors.torch.save_file(torch.load(\"w.pt\"), \"w.safetensors\")` writes a file "
           "that can be read";
  return "weights are a .safetensors file, a .npy file or a folder of NAME.npy";
}

static const char *source_help(const char *kind) {
  if (kind == onnx || kind == checkpoint)
    return "models are graphs: `tilec graph FILE`, with the text that PyTorch prints";
  if (kind == array || kind == zip_arrays || kind == tensors)
    return "arrays are arguments: `--arg x=@x.npy`";
  return "kernels are texts: `.tile` files, or `.py` files with `@triton.jit`";
}

void foreign_help(struct diag *d, const char *kind, enum foreign_use use) {
  if (!kind)
    return;
  diag_help(d, "%s",
            use == FOREIGN_GRAPH     ? graph_help(kind)
            : use == FOREIGN_ARRAY   ? array_help(kind)
            : use == FOREIGN_WEIGHTS ? weights_help(kind)
                                     : source_help(kind));
}

// A kind of text that is not what is read here; NULL: it may be.
static const char *text_name(enum text_kind kind, enum foreign_use use) {
  switch (kind) {
  case TEXT_PTX: return "PTX, which tilec writes";
  case TEXT_TTIR: return "a module of Triton's IR";
  case TEXT_CUDA: return "CUDA C++";
  case TEXT_LLVM: return "LLVM IR, which tilec writes";
  case TEXT_MODULE: return "the source of a model";
  case TEXT_GRAPH: return use == FOREIGN_SOURCE ? "a graph" : NULL;
  case TEXT_KERNEL: return use == FOREIGN_GRAPH ? "a kernel" : NULL;
  case TEXT_UNKNOWN: break;
  }
  return NULL;
}

static void help_text(struct diag *d, const char *path, enum text_kind kind, enum foreign_use use) {
  if (kind == TEXT_KERNEL)
    diag_help(d, "`tilec run %s` runs it, `tilec compile %s` compiles it", path, path);
  else if (kind == TEXT_GRAPH)
    diag_help(d, "`tilec graph %s --run` runs it", path);
  else if (kind == TEXT_MODULE)
    diag_help(d, "print its graph into a file:\n"
                 "`print(torch.export.export(model, inputs).run_decompositions())`, and "
                 "`tilec graph FILE` reads that");
  else if (use == FOREIGN_GRAPH)
    diag_help(d, "%s", graph_help(NULL));
  else if (kind == TEXT_PTX || kind == TEXT_LLVM)
    diag_help(d, "give the kernel's source, a `.tile` file or Triton's Python");
  else if (kind == TEXT_TTIR)
    diag_help(d, "give the Python source with `@triton.jit`, which compiles as it is");
  else
    diag_help(d, "write it as a function with `@jit`: `docs/cli.md` and `tutorials/01-vector-add` "
                 "have examples");
}

static bool report_text(struct diag_engine *diag, struct span at, const char *path, struct str text,
                        enum foreign_use use) {
  enum text_kind kind = text_kind_of(text);
  const char *name = text_name(kind, use);
  if (!name)
    return false;
  struct diag *d = diag_error(diag, at, E0710, "`%s` is %s, not %s", path, name,
                              use == FOREIGN_GRAPH ? "the text of a graph" : "a kernel");
  help_text(d, path, kind, use);
  return true;
}

bool foreign_report(struct diag_engine *diag, struct span at, const char *path, struct str head,
                    enum foreign_use use) {
  const char *kind = foreign_kind(path, head);
  if (!kind)
    return report_text(diag, at, path, head, use);
  struct diag *d = diag_error(diag, at, E0710, "`%s` is %s, not %s", path, kind,
                              use == FOREIGN_GRAPH ? "the text of a graph" : "a kernel");
  foreign_help(d, kind, use);
  return true;
}
