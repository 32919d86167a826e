"""What can be judged of a submission: a module for what belongs together; kinds.py names them for lab.toml."""
