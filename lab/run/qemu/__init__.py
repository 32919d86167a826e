"""What a machine needs of QEMU and of the host: its command, KVM, the disks it is timed as, plugins."""
