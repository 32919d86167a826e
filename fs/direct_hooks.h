/* direct_hooks.h - direct lookup (docs/kernel/direct-lookup.md), where the kernel has that room. */
#pragma once

#ifdef CONFIG_DCACHE_FASTPATH
#include "fs/path/direct/direct.h"
#else
#define free_cred(cred) kfree(cred)
#define direct_check() ((void)0)
#endif
