/*
 * template.h - what every table structure begins with: T(name) is the instance's prefix with the
 * name.
 *
 * Included by each structure at each instantiation, which is why it has no guard.
 */
#include "hash/cache.h"
#include "kernel/core/atomic.h"
#include "kernel/core/spinlock.h"

#if !defined(TABLE) || !defined(TABLE_OBJECT) || !defined(TABLE_LINK) || !defined(TABLE_KEY)
#error "define TABLE, TABLE_OBJECT, TABLE_LINK and TABLE_KEY first: see hash/table/README.md"
#endif

#ifndef T
#define TABLE_PASTE_(a, b) a##_##b
#define TABLE_PASTE(a, b) TABLE_PASTE_(a, b)
#define T(name) TABLE_PASTE(TABLE, name)
#define TABLE_STRING_(a) #a
#define TABLE_STRING(a) TABLE_STRING_(a)
#endif
