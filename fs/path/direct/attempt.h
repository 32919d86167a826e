/* attempt.h - a direct lookup that found nothing, as the walk in its stead carries it along. */
#pragma once

#ifdef CONFIG_DCACHE_FASTPATH

#include "fs/path/direct/signature.h"

struct direct_attempt {
	bool tried;
#ifdef CONFIG_DCACHE_SYMLINK_ALIAS
	const struct mount *tree; /* alias_tree() then, and ... */
	u32 fs_sequence;	  /* ... current->fs's */
#endif
	const char *hinted; /* the text, if it is not tried, since from's hint says that walking it
			     * takes fewer steps; or NULL */
	u64 changes;	    /* of the tree, that had ended when it began */
	const struct dentry *start;
	struct direct_entry *from;  /* the start's entry; NULL: it had none */
	struct signature signature; /* of the path's text, if from is not NULL */
};

#endif
