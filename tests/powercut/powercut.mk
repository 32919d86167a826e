# Power cuts: the ring alone, for make torture (docs/durability.md).
#
#   make -f tests/powercut/powercut.mk torture MINUTES=60    scripts of two to five calls, by a fresh seed

HOSTED_O ?= build/hosted
.DEFAULT_GOAL := torture
include tests/hosted/hosted.mk

MINUTES ?= 60

.PHONY: torture
torture: $(HOSTED_O)/powercut
	$(HOSTED_O)/powercut --minutes $(MINUTES) --seed $$(date +%s)
