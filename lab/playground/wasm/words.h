/*
 * words.h - before everything else: the kernel's addresses have 64 bits, and so have the keys that
 * are made of them, though the addresses of this machine have 32. What a hash function takes for
 * an address has 64 here, too.
 */
#include <stdint.h>

typedef unsigned long long kernel_address_t;
#define uintptr_t kernel_address_t
