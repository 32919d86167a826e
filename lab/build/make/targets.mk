# What a person types, apart from the build: run, test, check, iso, gdb, lines, lint, clean.

MEM ?= 512M
SMP ?= 1
ISO ?= $(O)/chainwalk.iso

MINUTES ?= 60

.PHONY: run test check mutants torture iso gdb lines docs book diagrams lint format clean distclean

run: setup # the demo builds, as ./cw run does: nobody else does in the same folder meanwhile
	@CW_OUTPUT=$(O) CW_SETTINGS="$(CONFIG_SET)" CW_DEFCONFIG=$(DEFCONFIG) $(PYTHON) -m lab demo --mem $(MEM) --smp $(SMP) --cmdline "$(CMDLINE)"

test: setup-test test-kernels
	@CW_OUTPUT=$(O) $(PYTHON) -m lab.check.runtests $(or $(TESTS),$(if $(ALL),--all))

check: setup-test
	@CW_OUTPUT=$(O) $(PYTHON) -m lab.check.runtests --check $(TESTS)

# Beside the set-up, which is apt and one processor for a minute. What cannot be built the test run tells again, and counts.
.PHONY: test-kernels
test-kernels: $(PYTHON_READY)
	@-CW_OUTPUT=$(O) $(PYTHON) -m lab.check.kernels

# Planted bugs that the tests must notice: the kept ones of tests/mutants, and COUNT new ones drawn by SEED.
SEED ?= 1
COUNT ?= 0
mutants: setup-test
	@CW_OUTPUT=$(O) $(PYTHON) -m lab.check.mutants --seed $(SEED) --count $(COUNT) $(MUTANTS)

# Rings of tests that look for what no single test meets, by fresh seeds, side by side for MINUTES. Each is a makefile
# whose target `torture` prints what it finds and how to see it again, and fails if there was something.
TORTURES := hosted/interleave/interleave.mk hosted/powercut/powercut.mk

torture: setup-test
	@for ring in $(TORTURES); do $(MAKE) -f $$ring torture MINUTES=$(MINUTES) & rings="$$rings $$!"; done; \
	status=0; for ring in $$rings; do wait $$ring || status=1; done; exit $$status

iso: $(STAMPS)/packages-iso kernel user
	@CW_OUTPUT=$(O) $(PYTHON) -m lab iso $(ISO) --cmdline "$(CMDLINE)"
	@echo "  ISO     $(ISO)"

gdb: kernel user # the one that was asked for, which is not built again as the default
	@CW_BUILD=no CW_OUTPUT=$(O) $(PYTHON) -m lab gdb

# The bench of the hash packages as experiments/seltzer-*.toml want it: static, so that it runs on Chainwalk, and the data.
HASHBENCH := $(CURDIR)/build/hashbench
.PHONY: hashbench hashbench-host
hashbench: setup
	$(Q)$(MAKE) -s -C user/chainhash/bench CC=musl-gcc CFLAGS=-O2 STATIC=y ADAPTERS='chainhash libc_hsearch' O=$(HASHBENCH)/chainwalk
	$(Q)python3 user/chainhash/bench/makedata.py $(HASHBENCH)/data
# The same for this host, with all libraries that it is compared with.
hashbench-host: hashbench $(STAMPS)/packages-compare
	$(Q)$(MAKE) -s -C user/chainhash/bench CFLAGS=-O2 O=$(HASHBENCH)/host

# The trees of sources for experiments/tsai-table*.toml.
.PHONY: sourcetree
sourcetree: $(PYTHON_READY)
	$(Q)$(PYTHON) -m lab.guest.sourcetree $(CURDIR)/build/sourcetree

lines: $(PYTHON_READY)
	@$(PYTHON) -m lab.check.lines

docs: $(PYTHON_READY)
	@$(PYTHON) -m lab.check.syscalls
	@$(PYTHON) -m lab.cli.pages.reference
	@$(PYTHON) -m lab.kept.page

# docs/ as a site with the playground, and as a PDF; the book's pictures from the text beside them.
book: setup-book setup-playground
	@$(PYTHON) -m lab.book $(CURDIR)/build/book
	@$(PYTHON) -m lab playground --output $(CURDIR)/build/book/playground.html

diagrams: setup-book
	@$(PYTHON) -m lab.book.diagrams

PYTHON_FOLDERS := lab tests hash boot user
C_FILES = $(shell git ls-files '*.c' '*.h')

lint: setup-test
	$(Q)$(VENV)/bin/ruff check -q $(PYTHON_FOLDERS)
	$(Q)$(VENV)/bin/ruff format -q --check $(PYTHON_FOLDERS)
	$(Q)$(VENV)/bin/mypy --no-error-summary
	$(Q)$(PYTHON) -m lab.check.style

format: setup-test
	$(Q)$(VENV)/bin/ruff format $(PYTHON_FOLDERS)
	$(Q)clang-format -i $(C_FILES)

clean:
	rm -rf build

distclean: clean
	rm -rf $(VENV) .pytest_cache .ruff_cache .mypy_cache .hypothesis
