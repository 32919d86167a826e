# Set-up: packages of the system, then the pinned Python packages in .venv. Stamps make a second run free.
# The stamps hold what they were made from, so that a fresh checkout beside an old one is no trouble.

VENV := .venv
PYTHON := $(VENV)/bin/python3
STAMPS := $(VENV)/stamps
PYTHON_READY := $(STAMPS)/python
PYTHON_TEST_READY := $(STAMPS)/python-test
PYTHON_EXTRAS := $(STAMPS)/python-lab $(STAMPS)/python-dask $(STAMPS)/python-book

.PHONY: setup setup-test setup-playground setup-book setup-grader setup-lab setup-dask
setup: $(STAMPS)/packages-run $(PYTHON_READY)
setup-test: $(STAMPS)/packages-test $(PYTHON_TEST_READY)
setup-playground: $(STAMPS)/packages-playground $(PYTHON_READY)
setup-book: $(STAMPS)/packages-book $(STAMPS)/python-book
setup-grader: $(STAMPS)/packages-grader $(PYTHON_READY)
setup-lab setup-dask: setup-%: $(STAMPS)/python-%

$(STAMPS)/packages-%: lab/build/setup.sh
	$(Q)CROSS_COMPILE=$(CROSS_COMPILE) sh lab/build/setup.sh $*
	@mkdir -p $(@D) && touch $@
# One after the other: two apt-gets at once are in each other's way.
$(STAMPS)/packages-iso $(STAMPS)/packages-playground $(STAMPS)/packages-book $(STAMPS)/packages-grader $(STAMPS)/packages-test $(STAMPS)/packages-compare: | $(STAMPS)/packages-run

PIP_INSTALL = $(PYTHON) -m pip install --quiet --disable-pip-version-check -r

$(PYTHON_READY): lab/build/requirements.txt | $(STAMPS)/packages-run
	@echo "  VENV    $(VENV) (pinned Python packages)"
	$(Q)python3 -m venv $(VENV)
	$(Q)$(PIP_INSTALL) $<
	@mkdir -p $(@D) && touch $@

# What only some commands need (lab/build/setup.py).
$(PYTHON_EXTRAS): $(STAMPS)/python-%: lab/build/requirements-%.txt $(PYTHON_READY)
	@echo "  VENV    $(VENV) ($*)"
	$(Q)$(PIP_INSTALL) $<
	@mkdir -p $(@D) && touch $@

# The tests' list has the others in it: one installation, since two at once would be in each other's way.
$(PYTHON_TEST_READY): lab/build/requirements-test.txt lab/build/requirements-lab.txt lab/build/requirements-dask.txt lab/build/requirements-book.txt \
		$(PYTHON_READY)
	@echo "  VENV    $(VENV) (for the tests)"
	$(Q)$(PIP_INSTALL) $<
	@mkdir -p $(@D) && touch $@ $(PYTHON_EXTRAS)
