# The hosted build: fs/, mm/ and hash/ in an ordinary process, under the sanitizers (README.md).
#
#   make -f hosted/hosted.mk            build all test programs into $(HOSTED_O)
#   make -f hosted/hosted.mk check      build and run them: `ok NAME` or `not ok NAME` for each test
#   make -f hosted/hosted.mk fuzz       the libFuzzer target (needs clang), run for FUZZ_SECONDS
#   make -f hosted/hosted.mk HOSTED_CC=clang    with another compiler
#   make -f hosted/hosted.mk HOSTED_SET=DEBUG=n HOSTED_SANITIZE= HOSTED_O=build/hosted-plain check    as it ships
#   PAGE_TABLE=rbtree BUFFER_HASH=mult ...    choose as for the kernel
#
# The configuration is made like the kernel's, with SWAP=y and DEBUG=y: assertions and the lock-order checker are on.
# A new test program is a file tests/test_NAME.c, or tests/SUBJECT/test_NAME.c, which what else lies in SUBJECT is
# linked with.

HOSTED_O ?= build/hosted
HOSTED_CC ?= gcc
HOSTED_SET ?= DEBUG=y
# The optional rooms that are always there.
HOSTED_ROOMS ?= SWAP=y XATTR=y OPENAT2=y FALLOCATE=y MOUNT_NS=y SECURITY_LABELS=y PERCPU_COUNTS=y
PYTHON ?= $(if $(wildcard .venv/bin/python3),.venv/bin/python3,python3)
FUZZ_SECONDS ?= 60
SHELL := /bin/bash
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory
ifeq ($(V),)
Q := @
endif

HOSTED_CHOICES := $(foreach n,PAGE_HASH BUFFER_HASH INODE_HASH DENTRY_HASH NAME_HASH PAGE_TABLE BUFFER_TABLE \
	INODE_TABLE DENTRY_TABLE SWAP_HASH SWAP_TABLE PATH_HASH PATH_TABLE PAGE_LOCK BUFFER_LOCK INODE_LOCK DENTRY_LOCK PATH_LOCK \
	HASH_WORD HASH_STATS,$(if $(filter command line environment,$(origin $(n))),$(n)=$($(n))))
# nonnull-attribute: no bytes may be copied from NULL, in the kernel
HOSTED_SANITIZE ?= -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-sanitize=nonnull-attribute
HOSTED_CFLAGS = -std=gnu11 -O1 -g -fno-omit-frame-pointer -Wall -Wextra -Wno-unused-parameter -DHOSTED -DHOSTED_TASKS -Ddata_race=READ_ONCE -D_GNU_SOURCE $(HOSTED_SANITIZE) \
	-I. -Ihosted/include -I$(HOSTED_O)/include \
	-include $(HOSTED_O)/include/generated/autoconf.h -MMD -MP $(if $(CI),-Werror)

include $(HOSTED_O)/include/generated/rooms.mk # ABSENT_ROOMS: those that are not chosen
HOSTED_CORE := core/cmdline.c core/base/format.c core/percpu/shares.c core/log/text.c core/memory/shrinker.c core/time/time.c core/sched/wait.c $(wildcard core/lock/*.c)
HOSTED_MM := $(wildcard mm/cache/*.c mm/space/*.c mm/swap/*.c)
HOSTED_FS := $(filter-out $(addsuffix /%,$(ABSENT_ROOMS)),$(wildcard $(foreach folder,path path/lockless path/direct path/siblings path/signature path/alias path/lexical path/complete path/negative path/namespace label inode file regular block ext2 tmpfs devfs xattr openat2 fallocate swap calls,fs/$(folder)/*.c))) fs/cred.c fs/start.c fs/writeback.c
HOSTED_HASH ?= $(wildcard hash/*.c)
HOSTED_OWN := $(wildcard hosted/machine/*.c hosted/machine/shared/*.c) \
	$(filter-out hosted/harness/main.c,$(wildcard hosted/harness/*.c hosted/harness/*/*.c))
HOSTED_SOURCES := $(HOSTED_CORE) $(HOSTED_MM) $(HOSTED_FS) $(HOSTED_HASH) $(HOSTED_OWN)
HOSTED_OBJECTS := $(HOSTED_SOURCES:%.c=$(HOSTED_O)/%.o)
HOSTED_TESTS := $(wildcard hosted/tests/test_*.c hosted/tests/*/test_*.c)
HOSTED_PROGRAMS := $(patsubst %.c,$(HOSTED_O)/%,$(notdir $(HOSTED_TESTS)))
HOSTED_POWERCUT := $(patsubst %.c,$(HOSTED_O)/%.o,$(wildcard hosted/powercut/*.c))
HOSTED_CONFIG := $(HOSTED_O)/.configured

.PHONY: all check fuzz
.SECONDARY:
all: $(HOSTED_PROGRAMS) $(HOSTED_O)/powercut $(HOSTED_O)/chainhash_cuts

# Rewritten when other choices are made; the dependency files hold the folder's name.
HOSTED_KEY := $(HOSTED_O) $(HOSTED_CC) $(HOSTED_ROOMS) $(HOSTED_SET) $(HOSTED_CHOICES) $(HOSTED_SANITIZE)
$(shell mkdir -p $(HOSTED_O); [ "$$(cat $(HOSTED_O)/.key 2>/dev/null)" = "$(HOSTED_KEY)" ] || \
	echo "$(HOSTED_KEY)" > $(HOSTED_O)/.key)
$(HOSTED_CONFIG): $(HOSTED_O)/.key Kconfig lab/build/configure.py hash/choose.py $(wildcard hash/*/*.h)
	@echo "  CONFIG  $(HOSTED_O) $(HOSTED_SET) $(HOSTED_CHOICES)"
	$(Q)$(PYTHON) lab/build/configure.py --output $(HOSTED_O) $(addprefix --set ,$(HOSTED_ROOMS) $(HOSTED_SET) $(HOSTED_CHOICES))
	$(Q)$(PYTHON) hash/choose.py $(HOSTED_O)/effective.config $(HOSTED_O)/include/generated/hash_choice.h
	@touch $@
$(HOSTED_O)/include/generated/rooms.mk: $(HOSTED_CONFIG)
	@:

$(HOSTED_O)/%.o: %.c $(HOSTED_CONFIG) hosted/hosted.mk
	@mkdir -p $(@D)
	@echo "  HOSTED  $<"
	$(Q)$(HOSTED_CC) $(HOSTED_CFLAGS) -c -o $@ $<

$(HOSTED_O)/libhosted.a: $(HOSTED_OBJECTS)
	$(Q)rm -f $@ && ar rcs $@ $^

# $(call test-objects,FILE): a test program's own, and those of its subject.
test-objects = $(patsubst %.c,$(HOSTED_O)/%.o,$(1) $(if $(filter-out hosted/tests/,$(dir $(1))),$(filter-out $(dir $(1))test_%,$(wildcard $(dir $(1))*.c))))
$(foreach test,$(HOSTED_TESTS),$(eval $(HOSTED_O)/$(basename $(notdir $(test))): $(call test-objects,$(test))))
$(HOSTED_PROGRAMS): $(HOSTED_O)/hosted/harness/main.o $(HOSTED_O)/libhosted.a
	@echo "  LINK    $@"
	$(Q)$(HOSTED_CC) $(HOSTED_SANITIZE) -o $@ $(filter %.o,$^) $(filter %.a,$^)

# The ring of power cuts (hosted/powercut/main.c).
$(HOSTED_O)/powercut: $(HOSTED_POWERCUT) $(HOSTED_O)/libhosted.a
	@echo "  LINK    $@"
	$(Q)$(HOSTED_CC) $(HOSTED_SANITIZE) -o $@ $^

# libchainhash on ext2 with the power cut (hosted/powercut/chainhash/main.c): what its objects ask of the C library's
# files goes to the hosted kernel, by other names.
HOSTED_PACKAGE := $(HOSTED_O)/package
HOSTED_PACKAGE_THERE := $(if $(filter /%,$(HOSTED_O)),,../../)$(HOSTED_PACKAGE)
HOSTED_CALLS := open64=table_open close=table_close pread64=table_pread pwritev64=table_pwritev fdatasync=table_fdatasync \
	fsync=table_fsync ftruncate64=table_ftruncate fstat64=table_fstat stat64=table_stat lseek64=table_lseek fcntl64=table_fcntl
HOSTED_TABLE := $(patsubst %.c,$(HOSTED_O)/%.o,$(wildcard hosted/powercut/chainhash/*.c)) $(HOSTED_O)/tests/chainhash/model.o
HOSTED_TABLE_HOST := $(HOSTED_O)/hosted/powercut/chainhash/table.o $(HOSTED_O)/tests/chainhash/model.o
$(HOSTED_TABLE_HOST): HOSTED_CFLAGS = -std=gnu11 -O1 -g -Wall -Wextra -D_GNU_SOURCE $(HOSTED_SANITIZE) -I. -Iuser/chainhash/include \
	-Itests/chainhash -MMD -MP $(if $(CI),-Werror)
.PHONY: package
package:
	$(Q)$(MAKE) -s -C user/chainhash O=$(HOSTED_PACKAGE_THERE) CC=$(HOSTED_CC) CFLAGS="-O1 -g $(HOSTED_SANITIZE)" \
		$(HOSTED_PACKAGE_THERE)/libchainhash.a
$(HOSTED_PACKAGE)/libchainhash.a: package ;
$(HOSTED_PACKAGE)/redirected.o: $(HOSTED_PACKAGE)/libchainhash.a hosted/hosted.mk
	$(Q)objcopy $(foreach call,$(HOSTED_CALLS),--redefine-sym $(call)) $(HOSTED_PACKAGE)/libchainhash.o $@
$(HOSTED_O)/chainhash_cuts: $(HOSTED_TABLE) $(HOSTED_PACKAGE)/redirected.o $(filter-out %/main.o,$(HOSTED_POWERCUT)) $(HOSTED_O)/libhosted.a
	@echo "  LINK    $@"
	$(Q)$(HOSTED_CC) $(HOSTED_SANITIZE) -o $@ $^

check: all
	@status=0; for program in $(HOSTED_PROGRAMS); do $$program || status=1; done; exit $$status

# libFuzzer: the same sources with clang's coverage, in one folder of their own, beginning with small images.
FUZZ_O := $(HOSTED_O)-fuzz
fuzz:
	@$(MAKE) -f hosted/hosted.mk HOSTED_O=$(FUZZ_O) HOSTED_CC=clang \
		HOSTED_SANITIZE="-fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined" $(FUZZ_O)/fuzz_ext2
	@mkdir -p $(FUZZ_O)/corpus $(FUZZ_O)/seeds/tree/dir
	@cd $(FUZZ_O)/seeds && head -c 20000 /dev/zero | tr '\0' x > tree/file && ln -sf file tree/link && touch tree/dir/a tree/dir/b
	@cd $(FUZZ_O)/seeds && for size in 1024 2048 4096; do PATH=$$PATH:/sbin:/usr/sbin mke2fs -q -F -t ext2 -b $$size -N 16 -I 128 \
		-O none,filetype -d tree image-$$size $$((size * 16 / 256))k || exit 1; done
	$(FUZZ_O)/fuzz_ext2 -max_total_time=$(FUZZ_SECONDS) -timeout=20 -rss_limit_mb=4096 -max_len=262144 -len_control=0 -artifact_prefix=$(FUZZ_O)/ \
		$(FUZZ_O)/corpus $(FUZZ_O)/seeds

$(HOSTED_O)/fuzz_ext2: $(HOSTED_O)/hosted/tests/fuzz_ext2.o $(HOSTED_O)/libhosted.a
	@echo "  LINK    $@"
	$(Q)clang -fsanitize=address,undefined,fuzzer -o $@ $^

-include $(HOSTED_OBJECTS:.o=.d) $(wildcard $(HOSTED_O)/hosted/*/*.d $(HOSTED_O)/hosted/tests/*/*.d $(HOSTED_O)/hosted/powercut/*/*.d)
