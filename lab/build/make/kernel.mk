# The kernel: every *.c and *.S of seven folders but of optional rooms that were not chosen, linked twice so that it can name its own functions.

CC := $(CROSS_COMPILE)gcc
LD := $(CROSS_COMPILE)ld
NM := $(CROSS_COMPILE)nm
STRIP := $(CROSS_COMPILE)strip
OBJDUMP := $(CROSS_COMPILE)objdump

KERNEL_SOURCES := $(filter-out $(addsuffix /%,$(ABSENT_ROOMS)),$(sort $(shell find $(KERNEL_FOLDERS) -name '*.[cS]')))
KERNEL_OBJECTS := $(addprefix $(O)/,$(addsuffix .o,$(basename $(KERNEL_SOURCES))))

CPPFLAGS := -I. -Iarch/x86/include -I$(O)/include -include $(AUTOCONF)
CFLAGS := -std=gnu11 -O2 -g -ffreestanding -fbuiltin -nostdinc -isystem $(shell $(CC) -print-file-name=include) \
	-fno-pic -mcmodel=kernel -mno-red-zone -mgeneral-regs-only -mpreferred-stack-boundary=3 \
	-falign-loops=1 -falign-jumps=1 -fno-omit-frame-pointer -fno-stack-protector -fno-strict-aliasing -fno-strict-overflow -fno-common \
	-fno-asynchronous-unwind-tables -fno-delete-null-pointer-checks -fcf-protection=none \
	-Wall -Wextra -Wno-unused-parameter $(if $(CI),-Werror) $(KCFLAGS)
LDFLAGS := -nostdlib -static -z max-page-size=0x1000 -z noexecstack --build-id=none \
	--no-warn-rwx-segments -T boot/kernel.ld
# LAYOUT=n: the objects in another order, and 7n pages more before what is allocated at boot.
LAID_OUT = --defsym layout_pages=$(shell expr 7 \* 0$(LAYOUT))

# What is given by the environment or the command line: where it is another than last time, all is made anew.
FLAGS_GIVEN := $(O)/flags.given
ifneq ($(filter-out undefined,$(origin ABSENT_ROOMS)),)
$(shell mkdir -p $(O); printf '%s\n' '$(CC) $(KCFLAGS)' | cmp -s - $(FLAGS_GIVEN) || printf '%s\n' '$(CC) $(KCFLAGS)' > $(FLAGS_GIVEN))
endif

.PHONY: kernel
kernel: $(O)/chainwalk

$(KERNEL_OBJECTS): Makefile lab/build/make/kernel.mk $(FLAGS_GIVEN) | $(AUTOCONF) $(HASH_CHOICE)

$(O)/%.o: %.c
	$(info $(empty)  CC      $<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(O)/%.o: %.S
	$(info $(empty)  AS      $<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -D__ASSEMBLER__ -MMD -MP -c -o $@ $<

# boot/symbols.py reads `nm -n` and writes the table as assembly. The first link has an empty table; the
# table lies behind everything else, so that the second link moves nothing that it names.
SYMBOLS_SCRIPT := $(wildcard boot/symbols.py)
OBJECT_LIST := $(O)/objects.list
ifneq ($(filter-out undefined,$(origin ABSENT_ROOMS)),) # else nobody knows what belongs to it
# All folders at once: a process less for each object, as $(info) is one less than echo.
$(shell mkdir -p $(sort $(dir $(KERNEL_OBJECTS))))
LINK_ORDER := $(if $(filter-out 0,$(LAYOUT)),$(shell printf '%s\n' $(KERNEL_OBJECTS) | $(PYTHON) lab/build/link_order.py $(LAYOUT)),$(KERNEL_OBJECTS))
$(shell printf '%s\n' $(LINK_ORDER) | cmp -s - $(OBJECT_LIST) || printf '%s\n' $(LINK_ORDER) > $(OBJECT_LIST))
endif

$(O)/chainwalk: $(KERNEL_OBJECTS) $(OBJECT_LIST) boot/kernel.ld $(SYMBOLS_SCRIPT)
	@echo "  LD      $@"
ifneq ($(SYMBOLS_SCRIPT),)
	$(Q)$(PYTHON) $(SYMBOLS_SCRIPT) < /dev/null > $(O)/symbols-0.S
	$(Q)$(CC) $(CFLAGS) -c -o $(O)/symbols-0.o $(O)/symbols-0.S
	$(Q)$(LD) $(LDFLAGS) $(LAID_OUT) --strip-debug -o $(O)/chainwalk.pass1 @$(OBJECT_LIST) $(O)/symbols-0.o
	$(Q)$(NM) -n $(O)/chainwalk.pass1 | $(PYTHON) $(SYMBOLS_SCRIPT) > $(O)/symbols.S
	$(Q)$(CC) $(CFLAGS) -c -o $(O)/symbols.o $(O)/symbols.S
	$(Q)$(LD) $(LDFLAGS) $(LAID_OUT) -Map $(O)/chainwalk.map -o $@.new @$(OBJECT_LIST) $(O)/symbols.o
	$(Q)rm -f $(O)/chainwalk.pass1
else
	$(Q)$(LD) $(LDFLAGS) $(LAID_OUT) -Map $(O)/chainwalk.map -o $@.new @$(OBJECT_LIST)
endif
	$(Q)$(STRIP) -o $(O)/chainwalk.stripped.new $@.new
	$(Q)mv $(O)/chainwalk.stripped.new $(O)/chainwalk.stripped && mv $@.new $@

-include $(KERNEL_OBJECTS:.o=.d)
