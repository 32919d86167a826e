# Chainwalk: the two commands of the front page (make run, make test) and the kernel's build.
#
#   make run                 set-up, build, boot, the demo job, four histograms
#   make test                set-up, then the tests, of the longest those whose turn it is; ALL=y: all of them; last line
#                            "N passed, N failed"
#   make check               while working: linters, hosted tests, some boots; the same last line
#   make kernel              only the kernel, $(O)/chainwalk
#   make menuconfig          choose by menu; make NAME_defconfig: take configs/NAME_defconfig
#   make run BUFFER_HASH=steiner HASH_WORD=32 ...      choose for this one command
#   make book                docs/ as a site with search, and as a PDF: build/book
#   make iso | gdb | lines | lint | clean
#
# One Makefile, not recursive: every *.c and *.S in boot core arch hash mm fs kernel is part of the kernel, so a
# file dropped in is built. What is chosen lives in $(O)/.config; lab/build/configure.py turns it into
# $(O)/include/generated/autoconf.h and hash/choose.py into .../hash_choice.h. O= names another output
# folder, CROSS_COMPILE= a compiler's prefix, CI=1 turns warnings into errors, V=1 shows commands.

# One name for a folder, however it is given, since the dependency files hold it: from here if it lies in the checkout,
# whose own path may then have blanks, else absolute. make cannot have a blank in a name of its own.
O ?= build/default
empty :=
blank := $(empty) $(empty)
absolute = $(subst |,$(blank),$(abspath $(subst $(blank),|,$(if $(filter /%,$(1)),,$(CURDIR)/)$(1))))
override O := $(subst $(CURDIR)/,,$(call absolute,$(O)))
ifneq ($(words $(O)),1)
$(error O=$(O): make cannot build in a folder with a blank in its path. Choose another (of ./cw: CW_OUTPUT))
endif
SHELL := /bin/bash
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --no-print-directory
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 2)
endif
ifeq ($(V),)
Q := @
endif

.PHONY: all help
all: kernel
help:
	@sed -n '2,/^$$/s/^# \{0,1\}//p' Makefile

include lab/build/make/setup.mk
include lab/build/make/config.mk
include lab/build/make/kernel.mk
include lab/build/make/user.mk
include lab/build/make/targets.mk
