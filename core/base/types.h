/*
 * types.h - the integer types, and the small macros that every file uses.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64;
typedef int16_t s16;
typedef int32_t s32;
typedef long long s64;

#ifndef HOSTED
typedef s64 loff_t;
typedef intptr_t ssize_t;
typedef u64 ino_t;
typedef s32 pid_t;
typedef u32 uid_t;
typedef u32 gid_t;
typedef u64 dev_t; /* as the Linux ABI's struct stat carries it; use MKDEV, MAJOR, MINOR */
#else
#include <sys/types.h>
#endif
typedef s64 time64_t;
typedef u32 umode_t;
typedef u64 pgoff_t;	/* index of a page within a file, in pages */
typedef u64 phys_addr_t; /* physical address */
typedef u64 sector_t;	/* 512-byte sector number */

#define MKDEV(major, minor) \
	((u32)(major) << 8 | ((u32)(minor) & 0xff) | ((u32)(minor) & ~0xffu) << 12)
#define MAJOR(dev) ((u32)(dev) >> 8 & 0xfff)
#define MINOR(dev) (((u32)(dev) & 0xff) | ((u32)(dev) >> 12 & ~0xffu))

#define __user /* an address in user space: only uaccess.h may follow it */
#define __packed __attribute__((packed))
#define __aligned(n) __attribute__((aligned(n)))
/* Per-CPU data is an array [NR_CPUS] whose elements do not share cache lines, indexed by cpu_id().
 * The kernel is not preempted in kernel mode, so an index stays right until the thread blocks; what
 * interrupt handlers touch too needs interrupts off. */
#define __percpu_slot __aligned(64)
#define __weak __attribute__((weak)) /* gives way to another definition */
#define __noreturn __attribute__((noreturn))
#define __printf(fmt, args) __attribute__((format(printf, fmt, args)))
#define __must_check __attribute__((warn_unused_result))
#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#define noinline __attribute__((noinline))
#define __cold __attribute__((cold))
#define __maybe_unused __attribute__((unused))

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define barrier() __asm__ __volatile__("" ::: "memory")

#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
/* A look at what others may change meanwhile, for one comparison and no more: the compiler may make
 * it in memory. It is READ_ONCE() in hosted code, that those who check it for races are told. */
#ifndef data_race
#define data_race(x) (x)
#endif
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))
#define round_up(x, to) (((x) + ((__typeof__(x))(to)-1)) & ~((__typeof__(x))(to)-1))
#define round_down(x, to) ((x) & ~((__typeof__(x))(to)-1))
#define DIV_ROUND_UP(n, d) (((n) + (d)-1) / (d))
#define min(a, b)                                                                                  \
	({                                                                                         \
		__typeof__(a) _min_a = (a);                                                        \
		__typeof__(b) _min_b = (b);                                                        \
		_min_a < _min_b ? _min_a : _min_b;                                                 \
	})
#define max(a, b)                                                                                  \
	({                                                                                         \
		__typeof__(a) _max_a = (a);                                                        \
		__typeof__(b) _max_b = (b);                                                        \
		_max_a > _max_b ? _max_a : _max_b;                                                 \
	})
#define min_t(type, a, b) min((type)(a), (type)(b))
#define max_t(type, a, b) max((type)(a), (type)(b))

#define KB(n) ((u64)(n) << 10)
#define MB(n) ((u64)(n) << 20)
#define GB(n) ((u64)(n) << 30)
