/*
 * slab.h - caches of equal objects, and kmalloc, over page_alloc.h.
 *
 * Objects are packed the way Linux packs them (size rounded up to the alignment, objects one after
 * the other from the start of a slab of 1 << order pages), because the addresses of inodes and
 * dentries are hash keys and their spacing decides how good a hash looks. Free objects are kept on
 * a per-CPU list.
 *
 * The slab's order is chosen as SLUB chooses it: the smallest of 0..3 that holds enough objects (8)
 * and wastes at most a sixteenth, else an eighth, else a quarter.
 *
 * A slab without objects in use is given back at once; what CPUs keep on their lists, when memory
 * is short (shrinker.h).
 *
 * Debug builds poison free objects (0x6b) and check it on allocation and when they are freed again.
 * No locks to hold; GFP_KERNEL may sleep. Allocating and freeing are allowed in interrupts
 * (GFP_ATOMIC).
 *
 * Limits: caches are made at boot and stay; reclaim empties the list of the CPU it runs on alone.
 */
#pragma once

#include "core/memory/page_alloc.h"

struct kmem_cache;

#define SLAB_RECLAIMABLE (1u << 0) /* counted as MEMORY_SLAB_RECLAIMABLE */

/* Panics when out of memory: caches are made at boot. */
struct kmem_cache *kmem_cache_create(const char *name, size_t size, size_t align, unsigned flags);

/* NULL when out of memory. GFP_ZERO clears. */
void *kmem_cache_alloc(struct kmem_cache *cache, unsigned gfp);
void kmem_cache_free(struct kmem_cache *cache, void *object);

/* Sizes up to 4 MB, aligned to 8, powers of two to their size. kmalloc(0) gives a unique pointer.
 */
void *kmalloc(size_t size, unsigned gfp);
#define kzalloc(size, gfp) kmalloc(size, (gfp) | GFP_ZERO)
void kfree(const void *object); /* NULL is allowed */
/* char *text __free(kfree) = ...: freed at the end of the scope */
static __always_inline void __free_kfree(void *variable)
{
	kfree(*(void **)variable);
}

/* For /proc/slabinfo: a line for each cache. */
struct proc_entry;
struct text;
void slab_show(struct text *out, const struct proc_entry *unused);

/* Boot: up to a batch of objects of each cache, or 15, as @random has it, are never given out. */
void slab_hold(u64 random);

void slab_init(void);
