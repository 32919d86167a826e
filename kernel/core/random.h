/*
 * random.h - random bytes from a ChaCha20 keystream that replaces its own key (Bernstein 2008, RFC
 * 8439).
 *
 * Seeded at boot from RDRAND where the CPU has it, the cycle counter and the clock; `seed=N` fixes
 * the seed instead, so that a run can be repeated. Without RDRAND it is good for hash salts and
 * temporary file names, not for keys. Any context.
 */
#pragma once

#include "kernel/core/types.h"

void get_random_bytes(void *buffer, size_t n);
u64 random_u64(void);

/* Mix bytes into the key (a write to /dev/random, interrupt times). Ignored under `seed=`. */
void random_mix(const void *data, size_t n);

/* After cmdline_init(). */
void random_init(void);
