# Native: the hosted kernel as it ships, on threads, for time by the clock; see README.md and docs/kernel/native.md.
#
#   make -f hosted/native/native.mk                   build $(HOSTED_O)/native, build/native/native unless said otherwise
#   make -f hosted/native/native.mk TSAN=y HOSTED_O=build/native-tsan     with the thread sanitizer
#   make -f hosted/native/native.mk HOSTED_SET="DENTRY_LOCK=bucket HASH_STATS=n"     other choices
#
# What is compiled are the kernel's rooms and their allocators, with the kernel's flags, but for optional rooms that
# were not chosen.

HOSTED_O ?= build/native
HOSTED_SET ?=
HOSTED_ROOMS ?=
HOSTED_SANITIZE ?= $(if $(TSAN),-fsanitize=thread -Wno-tsan --param tsan-distinguish-volatile=1)
.DEFAULT_GOAL := native
include hosted/hosted.mk
include $(HOSTED_O)/include/generated/rooms.mk
$(HOSTED_O)/include/generated/rooms.mk: $(HOSTED_CONFIG)
	@:

NATIVE_CFLAGS := -std=gnu11 -O2 -g -fno-omit-frame-pointer -fno-strict-aliasing -fno-strict-overflow -fno-stack-protector \
	-fno-pic -fcf-protection=none -fno-delete-null-pointer-checks -ftls-model=local-exec -Wall -Wextra \
	-Wno-unused-parameter -D_GNU_SOURCE -MMD -MP $(if $(CI),-Werror)
HOSTED_CFLAGS = $(NATIVE_CFLAGS) $(HOSTED_SANITIZE) -DHOSTED $(if $(TSAN),-Ddata_race=READ_ONCE) -I. \
	-Ihosted/native/include -Ihosted/include -I$(HOSTED_O)/include -include $(HOSTED_O)/include/generated/autoconf.h \
	$(if $(TSAN),-include hosted/native/machine/acquire.h)

NATIVE_CORE := $(HOSTED_CORE) core/random.c core/time/clock.c core/memory/page_alloc.c core/memory/slab.c
NATIVE_SOURCES := $(filter-out $(addsuffix /%,$(ABSENT_ROOMS)),$(NATIVE_CORE) $(HOSTED_MM) $(HOSTED_FS) \
	$(filter-out hash/dump.c,$(HOSTED_HASH))) \
	$(addprefix hosted/machine/,mmu.c start.c shared/begin.c) $(wildcard hosted/native/machine/*.c) \
	$(addprefix hosted/native/,kernel_side.c lookups.c dentries.c)
NATIVE_HOST := hosted/native/main.c hosted/native/files.c hosted/native/host_side.c
NATIVE_OBJECTS := $(NATIVE_SOURCES:%.c=$(HOSTED_O)/%.o)
NATIVE_HOST_OBJECTS := $(NATIVE_HOST:%.c=$(HOSTED_O)/%.o)

$(NATIVE_HOST_OBJECTS): HOSTED_CFLAGS = $(NATIVE_CFLAGS) $(HOSTED_SANITIZE) -I.
$(NATIVE_OBJECTS) $(NATIVE_HOST_OBJECTS): hosted/native/native.mk

.PHONY: native
native: $(HOSTED_O)/native

$(HOSTED_O)/native: $(NATIVE_OBJECTS) $(NATIVE_HOST_OBJECTS)
	@echo "  LINK    $@"
	$(Q)$(HOSTED_CC) -no-pie -pthread $(HOSTED_SANITIZE) -o $@ $^

-include $(NATIVE_OBJECTS:.o=.d) $(NATIVE_HOST_OBJECTS:.o=.d)
