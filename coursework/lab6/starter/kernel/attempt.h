/* attempt.h - lab 6: a question to the path cache, as the walk in its stead carries it along. */
#pragma once

#ifdef CONFIG_DCACHE_FASTPATH

#include "fs/path/direct/pathcache.h"

struct direct_attempt {
	bool tried;	    /* it was asked, and knew nothing */
	const char *hinted; /* NULL */
	struct path_question question;
};

#endif
