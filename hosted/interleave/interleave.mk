# Interleavings: the hosted kernel with a point at every access to memory; see ring.h and docs/testing.md.
#
#   make -f hosted/interleave/interleave.mk        build $(HOSTED_O)/ring, build/interleave/ring unless said otherwise
#   make -f hosted/interleave/interleave.mk HOSTED_O=build/lab5 RING_TABLE=FILE   with a table of one's own
#   make -f hosted/interleave/interleave.mk torture MINUTES=60    all programs, by fresh seeds
#
# What is compiled, and how it is configured, is hosted.mk's; the rooms of the kernel get the hooks, our own files and
# the checker of lock orders, which races with itself by design, do not.

HOSTED_O ?= build/interleave
HOSTED_SANITIZE = $(RING_FLAGS)
HOSTED_ROOMS ?= SWAP=y XATTR=y OPENAT2=y FALLOCATE=y MOUNT_NS=y SECURITY_LABELS=y
# names that collide can be made by a weak hash function (programs/lockless)
HOSTED_SET ?= PAGE_LOCK=sequence BUFFER_LOCK=sequence INODE_LOCK=sequence NAME_HASH=linux-2.2
.DEFAULT_GOAL := ring
include hosted/hosted.mk

RING_HOOKS := -fsanitize=thread -Wno-tsan --param tsan-distinguish-volatile=1 \
	$(foreach f,memcpy memmove memset memcmp,-fno-builtin-$(f) -D$(f)=ring_$(f))
# the table of lab 5 that toys/table.c is about
RING_TABLE ?= coursework/lab5/starter/lockless.h
RING_FLAGS := -Ihosted/interleave/include -DRING_TABLE='"$(abspath $(RING_TABLE))"' -DRING_RACES_FILE='"$(CURDIR)/hosted/interleave/races.txt"'
RING_PLAIN := core/lock/lockdep.c hosted/harness/runner.c \
	$(addprefix hosted/machine/,kernel.c disk.c mmu.c user.c start.c hash.c shared/in_use.c shared/begin.c)
RING_OWN := $(wildcard hosted/interleave/ring/*.c hosted/interleave/worlds/*.c hosted/interleave/programs/*.c hosted/interleave/programs/*/*.c)
RING_TOYS := $(wildcard hosted/interleave/toys/*.c)
RING_HOOKED := $(RING_TOYS) hosted/interleave/programs/programs_lookups.c # it lets go of buffers
RING_KERNEL := $(filter-out $(RING_PLAIN) $(addsuffix /%,$(ABSENT_ROOMS)),$(HOSTED_CORE) $(HOSTED_MM) $(HOSTED_FS) $(HOSTED_HASH)) \
	hosted/harness/harness.c # it takes locks
RING_OBJECTS := $(patsubst %.c,$(HOSTED_O)/%.o,$(RING_OWN) $(RING_TOYS))
RING_LIBRARY := $(patsubst %.c,$(HOSTED_O)/%.o,$(RING_KERNEL) $(RING_PLAIN))

$(patsubst %.c,$(HOSTED_O)/%.o,$(RING_KERNEL) $(RING_HOOKED)): HOSTED_SANITIZE = $(RING_FLAGS) $(RING_HOOKS)

$(RING_OBJECTS) $(RING_LIBRARY): hosted/interleave/interleave.mk

# Another file than the last time is another table, whatever its age; and it has to be there.
$(HOSTED_O)/hosted/interleave/toys/table.o: $(RING_TABLE) $(HOSTED_O)/ring-table
$(HOSTED_O)/ring-table: FORCE
	$(Q)mkdir -p $(@D)
	$(Q)echo $(abspath $(RING_TABLE)) | cmp -s - $@ || echo $(abspath $(RING_TABLE)) > $@

MINUTES ?= 60

.PHONY: ring torture FORCE
ring: $(HOSTED_O)/ring

torture: ring
	$(HOSTED_O)/ring --minutes $(MINUTES)

$(HOSTED_O)/libring.a: $(RING_LIBRARY)
	$(Q)rm -f $@ && ar rcs $@ $^

$(HOSTED_O)/ring: $(RING_OBJECTS) $(HOSTED_O)/libring.a
	@echo "  LINK    $@"
	$(Q)$(HOSTED_CC) -o $@ $^

-include $(RING_OBJECTS:.o=.d) $(RING_LIBRARY:.o=.d)
