/* find.h - lab 6: a lookup by the path cache, for lockless.c. */
#pragma once

#include "fs/path/direct/direct.h"

/* From where @walk has begun, ask for @text: DIRECT_FOUND, and @walk stands there; or
 * DIRECT_UNKNOWN. Between rcu_read_lock() and rcu_read_unlock(). */
enum direct_result direct_find(struct lockless_walk *walk, const char *text);

#define direct_is_longer(text) (!*(text))
#define direct_ends_new(walk) ((walk)->direct.tried && !(walk)->links)
/* Nothing is remembered of walks that lead nowhere. */
#define direct_leads_nowhere(walk, walked) (*(walked) < 0)
#define direct_has_to_learn(walk) false
#define direct_end_nowhere(walk, error, dfd, name) ((void)0)
