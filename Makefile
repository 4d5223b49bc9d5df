# SPDX-License-Identifier: Apache-2.0
# Thin targets over Meson. `make demo` and `make test` install packages that a bare Debian 12 lacks.
BUILD ?= build
MESON_ARGS ?=

all: $(BUILD)/build.ninja
	ninja -C $(BUILD)

$(BUILD)/build.ninja: | deps
	meson setup $(BUILD) $(MESON_ARGS)

# Installs missing packages with apt; silent and offline if none is missing.
deps:
	@tools/install-deps.sh

demo: all
	$(BUILD)/tilec --doctor || true
	cd tutorials/01-vector-add && ../../$(BUILD)/tutorials/01-vector-add/vector-add

test: all
	tests/run-suite $(BUILD)

# A quick part of the tests that covers every room: a minute and a half on two cores. It checks that it leaves no files behind.
check: all
	tests/run-check $(BUILD)

# The release program: LLVM linked in, stripped.
static: | deps
	test -f build-static/build.ninja || meson setup build-static -Dllvm_link=static --buildtype=release -Db_ndebug=true
	ninja -C build-static tilec

# Debian packages of this system, into packages/: tools, libraries, development files.
deb: | deps
	test -f build-deb/build.ninja || meson setup build-deb $(MESON_ARGS) --prefix=/usr -Dtests=false
	ninja -C build-deb
	packaging/make-deb build-deb packages
	packaging/check-deb packages .

# tilec with LLVM linked in, manual, completions, documents: packages/tile-VERSION-ARCHITECTURE-linux.tar.gz. GLIBC_ROOT is an older
# Debian for which it is linked (packaging/link-old-glibc), GLIBC the version of its C library; without it, this system's are needed.
GLIBC = $(if $(GLIBC_ROOT),2.31)
tarball: static
	ninja -C build-static tools/pages/tilec.1 tools/pages/tilec tools/pages/_tilec tools/pages/tilec.fish
	packaging/make-tarball build-static packages $(GLIBC_ROOT)
	packaging/check-tarball packages/tile-*-linux.tar.gz . "$(GLIBC)" $(GLIBC_ROOT)

# The tests of python/, by a Python with PyTorch: make test-python PYTHON=/path/to/python3. `make test` does not need one.
PYTHON ?= python3
test-python: all
	tests/run-python $(BUILD) $(PYTHON)

# A wheel with the library of BUILD, into BUILD/wheel: make wheel PYTHON=/path/to/python3
wheel: all
	python/make-wheel $(BUILD) $(PYTHON)

bench: all
	meson test -C $(BUILD) --benchmark --verbose

# The documents as a site, into BUILD/site: files only, no server.
docs: all
	@tools/install-deps.sh cmark-gfm
	tools/site/make-site $(BUILD) $(BUILD)/site

# The tables of docs/cli.md, from those of the options and verbs.
docs-tables: all
	$(BUILD)/tools/pages/option-pages docs/cli.md --update

format:
	clang-format -i $$(git ls-files '*.c' '*.h')

install: all
	meson install -C $(BUILD)

clean:
	rm -rf $(BUILD) build-static build-deb packages

.PHONY: all check deps demo test test-python wheel static deb tarball bench docs docs-tables format install clean
