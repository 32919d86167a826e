"""Pages of docs/ that tell of the command line: `make docs` writes them."""
