# The user programs: every user/*.c is one static Linux program, and so is the folder user/workload, built against
# musl; the same binaries run on Linux.

USER_CC := $(if $(CROSS_COMPILE),$(CROSS_COMPILE)gcc,musl-gcc)
USER_CFLAGS := -std=gnu11 -O2 -static -Wall -Wextra $(if $(CI),-Werror)
USER_PROGRAMS := $(patsubst user/%.c,$(O)/user/%,$(wildcard user/*.c))
WORKLOAD_OBJECTS := $(patsubst user/workload/%.c,$(O)/user/objects/%.o,$(wildcard user/workload/*.c))

.PHONY: user
user: $(USER_PROGRAMS) $(O)/user/workload

$(O)/user/%: user/%.c Makefile lab/build/make/user.mk | $(STAMPS)/packages-run
	@mkdir -p $(@D)
	@echo "  USER    $@"
	$(Q)$(USER_CC) $(USER_CFLAGS) -MMD -MP -MF $@.d -o $@ $<

$(O)/user/objects/%.o: user/workload/%.c Makefile lab/build/make/user.mk | $(STAMPS)/packages-run
	@mkdir -p $(@D)
	$(Q)$(USER_CC) $(USER_CFLAGS) -MMD -MP -MF $@.d -c -o $@ $<

$(O)/user/workload: $(WORKLOAD_OBJECTS)
	@echo "  USER    $@"
	$(Q)$(USER_CC) $(USER_CFLAGS) -o $@ $^

-include $(USER_PROGRAMS:=.d) $(WORKLOAD_OBJECTS:=.d)
