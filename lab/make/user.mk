# The user programs: every user/*.c is one static Linux program, built against musl; the same binaries run
# on Linux.

USER_CC := $(if $(CROSS_COMPILE),$(CROSS_COMPILE)gcc,musl-gcc)
USER_CFLAGS := -std=gnu11 -O2 -static -Wall -Wextra $(if $(CI),-Werror)
USER_PROGRAMS := $(patsubst user/%.c,$(O)/user/%,$(wildcard user/*.c))

.PHONY: user
user: $(USER_PROGRAMS)

$(O)/user/%: user/%.c lab/make/user.mk | $(STAMPS)/packages-run
	@mkdir -p $(@D)
	@echo "  USER    $@"
	$(Q)$(USER_CC) $(USER_CFLAGS) -MMD -MP -MF $@.d -o $@ $<

-include $(USER_PROGRAMS:=.d)
