/*
 * ring.h - interleavings: the hosted kernel, switched from task to task at its accesses to memory.
 *
 * The kernel's rooms are compiled with -fsanitize=thread, but linked against a run-time of our own.
 * Its hooks (hooks.c) come before every access to memory and in place of every atomic operation.
 * Each is a point at which the scheduler (schedule.c) decides by seed who goes on: tasks are
 * contexts of one thread (fibers.c), each on a CPU of its own. The hooks also tell the checker of
 * data races (races.c) what is accessed, after which synchronisation; and memory.c, which gives out
 * frames and objects, what is allocated. stacks.c knows at any time who called whom.
 *
 * A program (programs_*.c) is a few tasks that make calls, and what must hold when they are done. A
 * run is a process of its own, known by the program's seed and the schedule's seed (main.c); the
 * schedule 0 is the profile: tasks run one after the other, and what they share is noted for the
 * schedules that follow. The run-time and the programs are compiled without hooks.
 *
 * A third of the schedules has stores that other CPUs see late, as on x86 (stores.c). What is not
 * simulated are weaker orders of memory: loads happen one after the other; that another order was
 * possible is seen by the races it would need.
 */
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include "hosted/machine/hosted.h"

#define RING_TASKS 8 /* the test itself, the disk, and those of the program */

/* ---- what a run is --------------------------------------------------------------------------- */

struct ring_program {
	const char *name;
	void (*prepare)(void); /* once, before the runs: memory, file systems */
	void (*run)(void);
	unsigned weight; /* how many schedules for one seed of the program */
	struct ring_program *next;
};
void ring_register(struct ring_program *program);
/* RING_PROGRAM(name, prepare, schedules for one seed) { start tasks; ring_run(); check } */
#define RING_PROGRAM(id, prepare_function, schedules)                                              \
	static void program_##id(void);                                                            \
	__attribute__((constructor)) static void register_##id(void)                               \
	{                                                                                          \
		static struct ring_program program = {#id, prepare_function, program_##id,         \
						      schedules, NULL};                            \
		ring_register(&program);                                                           \
	}                                                                                          \
	static void program_##id(void)

extern u64 ring_program_seed;	    /* what the program is made from */
extern struct rng ring_program_rng; /* begins there */

void ring_begin(void);			  /* of a run, before anything else */
void ring_disk(struct hosted_disk *disk); /* its requests are done by the scheduler's choice */

/* A task is between two calls: it has no reader on its CPU (core/lock/rcu.h). */
void ring_user(void);

/* Run what task_start() has prepared until all have ended, switching everywhere. */
void ring_run(void);

/* ---- what runs share, and the command looks at ------------------------------------------------
 */

#define RING_SITES 8192	   /* places in the kernel that access memory; a power of 2 */
#define RING_GRANULES 4096 /* pieces of memory that tasks share; a power of 2 */
#define RING_RACES 256
#define RING_DEPTH 40

struct ring_site {
	u32 pc, count;
	bool shared; /* accesses what another task does, and one of them changes it */
};

struct ring_stack {
	u32 pc[RING_DEPTH]; /* innermost first; 0 ends it */
};

struct ring_race {
	u32 pc[2];
	uintptr_t address;
	unsigned size;
	const char *what[2]; /* "writes", "reads, marked" */
	unsigned task[2];
	struct ring_stack stack[2];
	u64 program_seed, schedule_seed;
	char place[96];
};

struct ring_shared {
	/* of the profile */
	u64 steps;
	struct ring_site sites[RING_SITES];
	uintptr_t granules[RING_GRANULES];
	/* of the last run */
	u64 run_steps, switches, trace_hash;
	/* of all runs: each pair of places once */
	unsigned race_count;
	struct ring_race races[RING_RACES];
};
extern struct ring_shared *ring_shared;
extern bool ring_trace; /* print every point */

/* Addresses of this program, of its code and static data, are those of its file: the host may load
 * it anywhere. Others stay. */
extern char __executable_start[], _end[];
static inline uintptr_t ring_place(uintptr_t address)
{
	return address -
	       (address - (uintptr_t)__executable_start < (uintptr_t)(_end - __executable_start)
			? (uintptr_t)__executable_start
			: 0);
}

/* ---- hooks and scheduling ---------------------------------------------------------------------
 */

enum ring_kind { RING_READ, RING_WRITE, RING_MARKED_READ, RING_MARKED_WRITE, RING_FREE };

extern bool ring_active; /* tasks are running: the hooks look */

/* A point before an access: another may go on first. */
void ring_point(uintptr_t address, enum ring_kind kind, u32 pc);

/* schedule.c: what the seed decides */
void schedule_begin(u64 seed);
bool schedule_change(uintptr_t address, enum ring_kind kind, u32 pc); /* the task steps back? */
bool schedule_interrupt(void); /* a request is done now, on this CPU? */
bool schedule_time_passes(void);
u64 schedule_priority(void);	     /* of a new task */
u64 schedule_lowest(void);	     /* of one who steps back: below all others */
void schedule_unfair_for_long(void); /* from now on it takes turns */

/* ---- stores that others see late --------------------------------------------------------------
 */

void stores_begin(u64 seed);
/* All that the running task has stored is seen now. */
void stores_seen(void);
/* It has come to a hook: before anything else there. */
void stores_point(void);
/* It is another task's turn: all is seen, or not yet. */
void stores_turn(void);
/* The running task has stored what others have not seen: not for a while yet, either? So by
 * chance, one of so many times. */
bool stores_wait_on(unsigned one_in);
/* All is seen now, or, one of so many times, when others have had their turn: who sleeps, or is
 * through with a call. */
void ring_stores_end(unsigned one_in);
/* The running task loads or stores there now: what it has stored there before is seen. */
void stores_access(uintptr_t address, size_t size);
/* A store there follows, by itself. */
void stores_follows(uintptr_t address, size_t size, enum ring_kind kind);
/* @value is to be stored there, in @order: true, it will be, or has been. */
bool stores_late(uintptr_t address, size_t size, u64 value, int order);

/* ---- tasks ------------------------------------------------------------------------------------
 */

struct ring_clock {
	u32 at[RING_TASKS];
};

/* A store that others have not seen yet. */
struct late_store {
	uintptr_t address;
	u64 value;
	unsigned size;
	int order; /* of an atomic operation; -1: it is a plain store */
	u64 point; /* of its task, at which it was made */
};

struct late_stores {
	struct late_store list[16]; /* the oldest first */
	unsigned count;
	bool last_is_seen; /* the last stands in memory; its value is what stood there before */
	u64 points;
};

struct fiber {
	struct task *task; /* NULL: free */
	unsigned number;   /* and CPU */
	jmp_buf context;
	ucontext_t start;
	bool started, thread, asleep, irqs_off, in_interrupt;
	char *stack;
	void (*function)(void *);
	void *argument;
	u64 wake_ns; /* 0: no time-out */
	u64 priority;
	/* the checker's */
	struct ring_clock clock, wake_clock, fence_acquire, fence_release;
	u32 node;    /* who called whom, see stacks.c */
	u32 last_pc; /* of its last point */
	struct late_stores stores;
};
extern struct fiber fibers[RING_TASKS];
extern struct fiber *running;

/* ---- the checker of races ---------------------------------------------------------------------
 */

void races_begin(void);
void races_access(uintptr_t address, size_t size, enum ring_kind kind, u32 pc);
/* What an atomic operation on @address orders; @order is GCC's. */
void races_load(uintptr_t address, int order);
void races_store(uintptr_t address, int order);
void races_exchange(uintptr_t address, int order);
void races_fence(int order);
void races_join(struct ring_clock *into, const struct ring_clock *from);
/* All that the running task did until now comes before what @clock's taker does. */
void races_publish(struct ring_clock *clock);
/* Memory is the running task's alone. */
void races_forget(uintptr_t address, size_t size);
bool races_tracked(uintptr_t address);

/* ---- memory -----------------------------------------------------------------------------------
 */

#define ARENA_BASE 0x100000000000ul
#define ARENA_BYTES MB(16)
#define STACK_BYTES KB(256)

extern unsigned ring_frames; /* that there are; small, so that they are used again soon */
void *arena_take(size_t bytes, size_t align);
/* What is wrong with accessing it now, or NULL. */
const char *memory_wrong(uintptr_t address);
/* The piece of memory it belongs to: a struct page, else 64 bytes. */
uintptr_t memory_granule(uintptr_t address);
/* "byte 16 of dentry" */
void memory_describe(uintptr_t address, char *text, size_t size);

/* ---- stacks -----------------------------------------------------------------------------------
 */

void stacks_enter(u32 call_pc);
void stacks_leave(void);
void stacks_get(u32 node, u32 pc, struct ring_stack *stack);
/* Print it, by the names of functions and lines. */
void stacks_print(const struct ring_stack *stack);
/* Of its @depth innermost frames: a line "function at file:line" each, inlined ones before who has
 * them. */
void stacks_names(const struct ring_stack *stack, unsigned depth, char *text, size_t size);
void stacks_show_tasks(void);

/* A failure: print what, where every task is, and end the run. */
void ring_fail(const char *format, ...) __printf(1, 2) __noreturn;
