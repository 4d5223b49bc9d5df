// SPDX-License-Identifier: Apache-2.0
// Links the object file of one kernel to an image (image.h): places its sections one behind the
// other, and applies the relocations that LLVM's small code model with position-independent code
// has (System V psABI for x86-64, 4.4; ELF for the Arm 64-bit Architecture, 5.7). What is left to
// the loader are the slots.
//
//   slots          8 bytes for each symbol that the object does not define
//   stubs          16 bytes for each: jump to what its slot holds
//   sections       .text, .rodata, ... in the order of the file
#include "base/arena.h"
#include "base/vec.h"
#include "runtime/image.h"

#include <elf.h>
#include <string.h>

enum { STUB_BYTES = 16, PAGE = 4096, NOWHERE = -1 };

struct linker {
  struct arena *a;
  struct str object;
  const Elf64_Ehdr *header;
  const Elf64_Shdr *sections;
  const Elf64_Sym *symbols;
  uint32_t symbol_count;
  struct str section_texts, texts; // names of sections, of symbols
  int64_t *placed;                 // by section: its offset in the image, or NOWHERE
  VEC(const char *) imports;
  uint8_t *image;
  uint32_t size;
  const char *why;
};

static bool fail(struct linker *l, const char *why) {
  if (!l->why)
    l->why = why;
  return false;
}

// ---- the file ----

static const void *part(const struct linker *l, uint64_t offset, uint64_t size) {
  bool ok = offset <= l->object.len && size <= l->object.len - offset;
  return ok ? l->object.ptr + offset : NULL;
}

static const void *bytes_of(const struct linker *l, const Elf64_Shdr *s) {
  return part(l, s->sh_offset, s->sh_size);
}

// A table of structures; NULL also if it is not aligned.
static const void *table_at(const struct linker *l, uint64_t offset, uint64_t size) {
  return offset % sizeof(uint64_t) == 0 ? part(l, offset, size) : NULL;
}

// The texts of a section, which ends with a NUL.
static bool find_texts(const struct linker *l, uint32_t section, struct str *ret) {
  if (section >= l->header->e_shnum)
    return false;
  const Elf64_Shdr *s = &l->sections[section];
  *ret = (struct str){bytes_of(l, s), s->sh_size};
  return ret->ptr && ret->len && ret->ptr[ret->len - 1] == '\0';
}

static bool read_symbols(struct linker *l, const Elf64_Shdr *s) {
  l->symbols = table_at(l, s->sh_offset, s->sh_size);
  l->symbol_count = (uint32_t)(s->sh_size / sizeof *l->symbols);
  if (!l->symbols || !find_texts(l, s->sh_link, &l->texts))
    return fail(l, "it has no symbols");
  for (uint32_t i = 0; i < l->symbol_count; i++)
    if (l->symbols[i].st_name >= l->texts.len)
      return fail(l, "a symbol is malformed");
  return true;
}

static bool read_header(struct linker *l) {
  const Elf64_Ehdr *h = l->header = part(l, 0, sizeof *h);
  if (!h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64 ||
      h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_type != ET_REL)
    return fail(l, "it is no relocatable ELF file of 64 bits");
  if (h->e_machine != EM_X86_64 && h->e_machine != EM_AARCH64)
    return fail(l, "its processor has no packs");
  l->sections = table_at(l, h->e_shoff, (uint64_t)h->e_shnum * sizeof *l->sections);
  if (!l->sections)
    return fail(l, "its sections are malformed");
  if (!find_texts(l, h->e_shstrndx, &l->section_texts))
    return fail(l, "its sections have no names");
  for (uint32_t i = 0; i < h->e_shnum; i++)
    if (l->sections[i].sh_type == SHT_SYMTAB)
      return read_symbols(l, &l->sections[i]);
  return fail(l, "it has no symbols");
}

static const char *section_name(const struct linker *l, const Elf64_Shdr *s) {
  return s->sh_name < l->section_texts.len ? l->section_texts.ptr + s->sh_name : "?";
}

// ---- places ----

static const char *symbol_name(const struct linker *l, const Elf64_Sym *s) {
  return l->texts.ptr + s->st_name;
}

static void find_imports(struct linker *l) {
  for (uint32_t i = 1; i < l->symbol_count; i++)
    if (l->symbols[i].st_shndx == SHN_UNDEF)
      vec_push(l->a, &l->imports, symbol_name(l, &l->symbols[i]));
}

static uint32_t import_index(const struct linker *l, const Elf64_Sym *s) {
  uint32_t i = 0;
  while (i < l->imports.len && strcmp(l->imports.at[i], symbol_name(l, s)) != 0)
    i++;
  return i;
}

static uint64_t slot_at(uint32_t import) { return (uint64_t)import * IMAGE_SLOT_BYTES; }

static uint64_t stub_at(const struct linker *l, uint32_t import) {
  uint64_t slots = (l->imports.len * IMAGE_SLOT_BYTES + STUB_BYTES - 1) / STUB_BYTES * STUB_BYTES;
  return slots + (uint64_t)import * STUB_BYTES;
}

static uint64_t aligned(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

// Sections that a program has in memory; those that unwind the stack are not needed.
static bool is_wanted(const struct linker *l, const Elf64_Shdr *s) {
  return s->sh_flags & SHF_ALLOC && s->sh_size && s->sh_type == SHT_PROGBITS &&
         strcmp(section_name(l, s), ".eh_frame") != 0;
}

static bool place(struct linker *l) {
  uint64_t at = stub_at(l, (uint32_t)l->imports.len);
  l->placed = arena_array(l->a, int64_t, l->header->e_shnum + 1u);
  for (uint32_t i = 0; i < l->header->e_shnum; i++) {
    const Elf64_Shdr *s = &l->sections[i];
    l->placed[i] = NOWHERE;
    if (s->sh_flags & SHF_ALLOC && s->sh_flags & SHF_WRITE && s->sh_size)
      return fail(l, arena_printf(l->a, "it has data that is written or relocated (%s)",
                                  section_name(l, s)));
    if (!is_wanted(l, s))
      continue;
    if (s->sh_addralign > PAGE || !bytes_of(l, s))
      return fail(l, "a section is malformed");
    at = aligned(at, s->sh_addralign > IMAGE_ALIGN ? s->sh_addralign : IMAGE_ALIGN);
    l->placed[i] = (int64_t)at;
    at += s->sh_size;
    if (at > IMAGE_MAX_BYTES)
      return fail(l, "it is too large");
  }
  at = aligned(at, IMAGE_ALIGN);
  if (l->imports.len > IMAGE_MAX_SLOTS || at > IMAGE_MAX_BYTES)
    return fail(l, "it is too large");
  l->size = (uint32_t)at;
  l->image = arena_alloc(l->a, l->size + 1, IMAGE_ALIGN);
  memset(l->image, 0, l->size);
  for (uint32_t i = 0; i < l->header->e_shnum; i++)
    if (l->placed[i] != NOWHERE)
      memcpy(l->image + l->placed[i], bytes_of(l, &l->sections[i]), l->sections[i].sh_size);
  return true;
}

static bool is_placed(const struct linker *l, const Elf64_Sym *s) {
  return s->st_shndx < l->header->e_shnum && l->placed[s->st_shndx] != NOWHERE &&
         s->st_value <= l->sections[s->st_shndx].sh_size;
}

// ---- words of the image ----

static uint32_t word_at(const struct linker *l, uint64_t at) {
  uint32_t v;
  memcpy(&v, l->image + at, sizeof v);
  return v;
}

static void set_word(struct linker *l, uint64_t at, uint32_t v) {
  memcpy(l->image + at, &v, sizeof v);
}

// Replaces `bits` bits of an instruction from `shift` on.
static void set_field(struct linker *l, uint64_t at, unsigned shift, unsigned bits, uint64_t v) {
  uint32_t mask = ((1u << bits) - 1) << shift;
  set_word(l, at, (word_at(l, at) & ~mask) | ((uint32_t)(v << shift) & mask));
}

static bool set_relative(struct linker *l, uint64_t at, int64_t distance) {
  set_word(l, at, (uint32_t)distance);
  return distance == (int32_t)distance || fail(l, "it is too large");
}

// ---- relocations ----

struct reference {
  uint64_t at; // in the image
  uint32_t type;
  int64_t addend;
  bool is_import;
  uint32_t import;
  uint64_t target; // in the image: of an import its stub
};

static bool relocate_x86(struct linker *l, const struct reference *r) {
  int64_t from = r->addend - (int64_t)r->at;
  switch (r->type) {
  case R_X86_64_NONE: return true;
  case R_X86_64_PC32:
  case R_X86_64_PLT32: return set_relative(l, r->at, (int64_t)r->target + from);
  case R_X86_64_GOTPCREL:
  case R_X86_64_GOTPCRELX:
  case R_X86_64_REX_GOTPCRELX:
    if (r->is_import)
      return set_relative(l, r->at, (int64_t)slot_at(r->import) + from);
    if (r->type != R_X86_64_REX_GOTPCRELX || r->at < 2 || l->image[r->at - 2] != 0x8b)
      break;
    l->image[r->at - 2] = 0x8d; // mov from a table of addresses becomes lea (psABI, B.2)
    return set_relative(l, r->at, (int64_t)r->target + from);
  default: break;
  }
  return fail(l, arena_printf(l->a, "it has a relocation of type %u", r->type));
}

// The page of an address, 21 bits in an adrp.
static bool set_page(struct linker *l, const struct reference *r, uint64_t target) {
  int64_t pages = (int64_t)(target / PAGE) - (int64_t)(r->at / PAGE);
  set_field(l, r->at, 29, 2, (uint64_t)pages);
  set_field(l, r->at, 5, 19, (uint64_t)(pages >> 2));
  return true;
}

// Bits of the offset in a page, in units of the access.
static bool set_low(struct linker *l, const struct reference *r, uint64_t target, unsigned log2) {
  set_field(l, r->at, 10, 12, (target % PAGE) >> log2);
  return target % (1u << log2) == 0 || fail(l, "a constant is not aligned");
}

static bool relocate_aarch64(struct linker *l, const struct reference *r) {
  uint64_t target = r->target + (uint64_t)r->addend;
  int64_t distance = (int64_t)target - (int64_t)r->at;
  switch (r->type) {
  case R_AARCH64_NONE: return true;
  case R_AARCH64_PREL32: return set_relative(l, r->at, distance);
  case R_AARCH64_CALL26:
  case R_AARCH64_JUMP26:
    set_field(l, r->at, 0, 26, (uint64_t)(distance >> 2));
    return (distance < 1 << 27 && distance >= -(1 << 27)) || fail(l, "it is too large");
  case R_AARCH64_ADR_PREL_LO21:
    set_field(l, r->at, 29, 2, (uint64_t)distance);
    set_field(l, r->at, 5, 19, (uint64_t)(distance >> 2));
    return (distance < 1 << 20 && distance >= -(1 << 20)) || fail(l, "it is too large");
  case R_AARCH64_ADR_PREL_PG_HI21: return set_page(l, r, target);
  case R_AARCH64_ADD_ABS_LO12_NC:
  case R_AARCH64_LDST8_ABS_LO12_NC: return set_low(l, r, target, 0);
  case R_AARCH64_LDST16_ABS_LO12_NC: return set_low(l, r, target, 1);
  case R_AARCH64_LDST32_ABS_LO12_NC: return set_low(l, r, target, 2);
  case R_AARCH64_LDST64_ABS_LO12_NC: return set_low(l, r, target, 3);
  case R_AARCH64_LDST128_ABS_LO12_NC: return set_low(l, r, target, 4);
  case R_AARCH64_ADR_GOT_PAGE:
    if (r->is_import)
      return set_page(l, r, slot_at(r->import));
    break;
  case R_AARCH64_LD64_GOT_LO12_NC:
    if (r->is_import)
      return set_low(l, r, slot_at(r->import), 3);
    break;
  default: break;
  }
  return fail(l, arena_printf(l->a, "it has a relocation of type %u", r->type));
}

static bool relocate(struct linker *l, const Elf64_Shdr *section, int64_t base,
                     const Elf64_Rela *rela) {
  uint64_t number = ELF64_R_SYM(rela->r_info);
  if (number >= l->symbol_count || rela->r_offset > section->sh_size ||
      section->sh_size - rela->r_offset < 4)
    return fail(l, "a relocation is malformed");
  const Elf64_Sym *s = &l->symbols[number];
  struct reference r = {.at = (uint64_t)base + rela->r_offset,
                        .type = ELF64_R_TYPE(rela->r_info),
                        .addend = rela->r_addend,
                        .is_import = s->st_shndx == SHN_UNDEF && number != 0};
  if (r.is_import) {
    r.import = import_index(l, s);
    r.target = stub_at(l, r.import);
  } else if (number != 0) {
    if (!is_placed(l, s))
      return fail(l, arena_printf(l->a, "`%s` is in no section", symbol_name(l, s)));
    r.target = (uint64_t)l->placed[s->st_shndx] + s->st_value;
  }
  return l->header->e_machine == EM_X86_64 ? relocate_x86(l, &r) : relocate_aarch64(l, &r);
}

static bool relocate_all(struct linker *l) {
  for (uint32_t i = 0; i < l->header->e_shnum; i++) {
    const Elf64_Shdr *s = &l->sections[i];
    if (s->sh_type != SHT_RELA || s->sh_info >= l->header->e_shnum ||
        l->placed[s->sh_info] == NOWHERE)
      continue;
    const Elf64_Rela *rela = table_at(l, s->sh_offset, s->sh_size);
    for (uint64_t k = 0; rela && k < s->sh_size / sizeof *rela; k++)
      if (!relocate(l, &l->sections[s->sh_info], l->placed[s->sh_info], &rela[k]))
        return false;
  }
  return true;
}

static void write_stubs(struct linker *l) {
  for (uint32_t i = 0; i < l->imports.len; i++) {
    uint64_t at = stub_at(l, i);
    struct reference r = {.at = at};
    if (l->header->e_machine == EM_X86_64) { // jmp *slot(%rip)
      l->image[at] = 0xff;
      l->image[at + 1] = 0x25;
      set_word(l, at + 2, (uint32_t)(slot_at(i) - (at + 6)));
      continue;
    }
    set_word(l, at, 0x90000010); // adrp x16, slot
    set_page(l, &r, slot_at(i));
    r.at = at + 4;
    set_word(l, r.at, 0xf9400210); // ldr x16, [x16, slot]
    set_low(l, &r, slot_at(i), 3);
    set_word(l, at + 8, 0xd61f0200); // br x16
  }
}

// ---- the result ----

static bool find_entry(struct linker *l, const char *name, uint32_t *ret) {
  for (uint32_t i = 1; i < l->symbol_count; i++) {
    const Elf64_Sym *s = &l->symbols[i];
    if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || !is_placed(l, s) ||
        strcmp(symbol_name(l, s), name) != 0)
      continue;
    *ret = (uint32_t)((uint64_t)l->placed[s->st_shndx] + s->st_value);
    return (*ret % 4 == 0 && *ret < l->size) || fail(l, "its function is malformed");
  }
  return fail(l, "its function is missing");
}

static void put_u32(struct strbuf *b, uint32_t v) {
  char bytes[] = {(char)v, (char)(v >> 8), (char)(v >> 16), (char)(v >> 24)};
  strbuf_put(b, bytes, sizeof bytes);
}

static void write_image(const struct linker *l, uint32_t entry, struct strbuf *out) {
  size_t names = 0;
  for (size_t i = 0; i < l->imports.len; i++)
    names += strlen(l->imports.at[i]) + 1;
  size_t padded = aligned(IMAGE_HEADER_BYTES + names, IMAGE_ALIGN) - IMAGE_HEADER_BYTES;
  put_u32(out, l->size);
  put_u32(out, entry);
  put_u32(out, (uint32_t)l->imports.len);
  put_u32(out, (uint32_t)padded);
  for (size_t i = 0; i < l->imports.len; i++)
    strbuf_put(out, l->imports.at[i], strlen(l->imports.at[i]) + 1);
  for (size_t i = names; i < padded; i++)
    strbuf_putc(out, 0);
  strbuf_put(out, (const char *)l->image, l->size);
}

const char *image_link(struct arena *a, struct str object, const char *entry, struct strbuf *out) {
  struct linker l = {.a = a, .object = object};
  uint32_t at = 0;
  if (!read_header(&l))
    return l.why;
  find_imports(&l);
  if (!place(&l) || !relocate_all(&l) || !find_entry(&l, entry, &at))
    return l.why;
  write_stubs(&l);
  write_image(&l, at, out);
  return NULL;
}
