/*
 * template.h - what every table structure begins with: T(name) is the instance's prefix with the
 * name.
 *
 * A .c file instantiates one structure, once.
 */
#include "hash/cache.h"
#include "core/lock/spinlock.h"

#ifndef TABLE_LOCK_HEADER
#define TABLE_LOCK_HEADER "hash/lock/bucket.h"
#endif

#define TABLE_PASTE_(a, b) a##_##b
#define TABLE_PASTE(a, b) TABLE_PASTE_(a, b)
#define T(name) TABLE_PASTE(TABLE, name)
#define TABLE_STRING_(a) #a
#define TABLE_STRING(a) TABLE_STRING_(a)
