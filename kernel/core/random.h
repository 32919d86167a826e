/*
 * random.h - random bytes: SipHash-1-3 of a counter under a secret key of 128 bits.
 *
 * Seeded at boot from RDRAND where the CPU has it, the cycle counter and the clock; `seed=N` fixes
 * the seed instead, so that a run can be repeated. Good for hash salts, address layout and
 * temporary file names, not for cryptographic keys. Any context.
 */
#pragma once

#include "kernel/core/types.h"

void get_random_bytes(void *buffer, size_t n);
u64 random_u64(void);

/* After cmdline_init(). */
void random_init(void);
