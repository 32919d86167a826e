"""The kernel built and booted with what was handed in, for any lab whose file can stand in the place of one of the kernel's."""
