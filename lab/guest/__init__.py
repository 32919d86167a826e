"""The guest's files: the tree a machine boots from, Debian's packages, prepared images, jobs; as ext2, archive or ISO.

Stands on base, and on build for the kernel of an ISO."""
