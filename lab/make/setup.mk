# Set-up: packages of the system, then the pinned Python packages in .venv. Stamps make a second run free.
# The stamps hold what they were made from, so that a fresh checkout beside an old one is no trouble.

VENV := .venv
PYTHON := $(VENV)/bin/python3
STAMPS := $(VENV)/stamps
PYTHON_READY := $(STAMPS)/python
PYTHON_TEST_READY := $(STAMPS)/python-test

.PHONY: setup setup-test
setup: $(STAMPS)/packages-run $(PYTHON_READY)
setup-test: $(STAMPS)/packages-test $(PYTHON_TEST_READY)

$(STAMPS)/packages-%: lab/setup.sh
	$(Q)CROSS_COMPILE=$(CROSS_COMPILE) sh lab/setup.sh $*
	@mkdir -p $(@D) && touch $@

$(PYTHON_READY): lab/requirements.txt | $(STAMPS)/packages-run
	@echo "  VENV    $(VENV) (pinned Python packages)"
	$(Q)python3 -m venv $(VENV)
	$(Q)$(VENV)/bin/pip install --quiet --disable-pip-version-check -r $<
	@mkdir -p $(@D) && touch $@

$(PYTHON_TEST_READY): lab/requirements-test.txt $(PYTHON_READY) | $(STAMPS)/packages-test
	@echo "  VENV    $(VENV) (for the tests)"
	$(Q)$(VENV)/bin/pip install --quiet --disable-pip-version-check -r $<
	@mkdir -p $(@D) && touch $@
