# Set-up: Debian packages, then the pinned Python packages in .venv. The stamps make a second run free.

VENV := .venv
PYTHON := $(VENV)/bin/python3
SETUP := $(VENV)/.packages
PYTHON_READY := $(VENV)/.ready

.PHONY: setup
setup: $(SETUP) $(PYTHON_READY)

$(SETUP): lab/setup.sh
	@sh lab/setup.sh
	@mkdir -p $(VENV) && touch $@

$(PYTHON_READY): lab/requirements.txt | $(SETUP)
	@echo "  VENV    $(VENV) (pinned Python packages)"
	$(Q)python3 -m venv $(VENV)
	$(Q)$(VENV)/bin/pip install --quiet --disable-pip-version-check -r lab/requirements.txt
	@touch $@
