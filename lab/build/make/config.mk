# Configuration: $(O)/.config -> autoconf.h (read by every file) and hash_choice.h (read by the caches).
#
# The names of the chosen functions and structures are kept out of autoconf.h, so that another hash
# function rebuilds the files of its cache and not the whole kernel; so is the policy of shrinking.

KERNEL_FOLDERS := boot core arch hash mm fs kernel

GENERATED := $(O)/include/generated
AUTOCONF := $(GENERATED)/autoconf.h
HASH_CHOICE := $(GENERATED)/hash_choice.h
DENTRY_SHRINK_CHOICE := $(GENERATED)/dentry_shrink.h

HASH_FILES := $(sort $(wildcard $(foreach folder,any page buffer inode dentry swap name table,hash/$(folder)/*.h)))

# Which optional rooms are left out make has to know before it looks for sources: it makes this file first, then reads
# it. Only where a kernel is wanted, since that configures, and sets Python up.
ROOMS := $(GENERATED)/rooms.mk
ifneq ($(filter all kernel iso gdb $(O)/%,$(or $(MAKECMDGOALS),all)),)
include $(ROOMS)
endif

# Any symbol of Kconfig may be given on make's command line: make run BUFFER_HASH=steiner DEBUG=y
# (but for CMDLINE, which `make run` adds to the kernel's command line as it is).
KCONFIG_FILES := Kconfig $(shell find $(KERNEL_FOLDERS) -name Kconfig)
KCONFIG_NAMES := PAGE_HASH BUFFER_HASH INODE_HASH DENTRY_HASH NAME_HASH PAGE_TABLE BUFFER_TABLE INODE_TABLE \
	DENTRY_TABLE SWAP_HASH SWAP_TABLE PATH_HASH PATH_TABLE PAGE_LOCK BUFFER_LOCK INODE_LOCK DENTRY_LOCK PATH_LOCK $(filter-out CMDLINE,$(shell sed -n 's/^\(config\|choice\) \([A-Z0-9_]*\)$$/\2/p' $(KCONFIG_FILES)))
CONFIG_SET := $(strip $(foreach name,$(sort $(KCONFIG_NAMES)), \
	$(if $(filter command line,$(origin $(name))),$(name)=$($(name)))) $(SET))
DEFCONFIG ?=

# One line that names everything the configuration depends on besides what .config says, and whether there is one: rewritten
# when it changes.
CONFIG_KEY := $(DEFCONFIG) | $(CONFIG_SET) | $(HASH_FILES) | $(wildcard $(O)/.config)
$(shell mkdir -p $(GENERATED); \
	[ "$$(cat $(O)/.config.key 2>/dev/null)" = "$(CONFIG_KEY)" ] || echo "$(CONFIG_KEY)" > $(O)/.config.key)

CONFIGURE = $(PYTHON) lab/build/configure.py --output $(O)

.PHONY: config menuconfig
config: $(HASH_CHOICE)

$(O)/.config.done: $(O)/.config.key $(KCONFIG_FILES) lab/build/configure.py hash/choose.py $(wildcard $(O)/.config) \
		$(wildcard configs/*) | $(PYTHON_READY)
	$(Q)$(CONFIGURE) $(if $(DEFCONFIG),--defconfig $(DEFCONFIG)) $(CONFIG_SET:%=--set %)
	@touch $@

# Rewritten only when the content changes, so another choice rebuilds what it must and no more.
$(AUTOCONF) $(DENTRY_SHRINK_CHOICE) $(ROOMS): $(O)/.config.done
	@:

$(O)/.choice.done: $(O)/.config.done
	$(Q)$(PYTHON) hash/choose.py $(O)/effective.config $(HASH_CHOICE)
	@touch $@

$(HASH_CHOICE) $(GENERATED)/hash_functions.h: $(O)/.choice.done
	@:

menuconfig: | $(PYTHON_READY)
	$(Q)$(CONFIGURE) --menu

%_defconfig: | $(PYTHON_READY)
	$(Q)$(CONFIGURE) --defconfig $* --save
