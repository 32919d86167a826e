# Power cuts: the ring alone, for make torture (docs/kernel/durability.md).
#
#   make -f hosted/powercut/powercut.mk torture MINUTES=60    scripts of two to five calls, by a fresh seed

HOSTED_O ?= build/hosted
.DEFAULT_GOAL := torture
include hosted/hosted.mk

MINUTES ?= 60
POWERCUT_IMAGES := 1k 1k-groups 2k 2k-groups 4k 4k-groups

# All scripts of two calls; then each file system for its share of the time.
.PHONY: torture
torture: $(HOSTED_O)/powercut
	$(HOSTED_O)/powercut --threes 0 --seed $$(date +%s)
	for image in $(POWERCUT_IMAGES); do $(HOSTED_O)/powercut --image $$image --no-pairs --threes 0 \
		--minutes $$((($(MINUTES) + 5) / 6)) --seed $$(date +%s) || exit 1; done
