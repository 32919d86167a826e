/*
 * mman.h - numbers of mmap(2) and its relatives, as programs are compiled with them (Linux,
 * x86-64).
 */
#pragma once

enum { PROT_NONE = 0, PROT_READ = 1, PROT_WRITE = 2, PROT_EXEC = 4 };

/* In the bits of MAP_TYPE. */
enum { MAP_SHARED = 0x01, MAP_PRIVATE = 0x02, MAP_SHARED_VALIDATE = 0x03, MAP_TYPE = 0x0f };
enum { MAP_FIXED = 0x10, MAP_FIXED_NOREPLACE = 0x100000, MAP_ANONYMOUS = 0x20, MAP_32BIT = 0x40 };
enum { MAP_GROWSDOWN = 0x0100, MAP_LOCKED = 0x2000, MAP_NORESERVE = 0x4000 };

enum { MS_ASYNC = 1, MS_INVALIDATE = 2, MS_SYNC = 4 };

#define MADV_DONTNEED 4 /* below it: NORMAL, RANDOM, SEQUENTIAL, WILLNEED */
