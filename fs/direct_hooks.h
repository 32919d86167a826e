/* direct_hooks.h - direct lookup (docs/kernel/dcache/direct-lookup.md), where it is compiled. */
#pragma once

#ifdef CONFIG_DCACHE_FASTPATH
#include "fs/path/direct/direct.h"
#else
#define free_cred(cred) kfree(cred)
#define cred_or_equal(cred) (cred)
#endif
