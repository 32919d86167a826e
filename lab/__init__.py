"""The laboratory around the kernel: build it, make images, boot it, read what it counted."""
