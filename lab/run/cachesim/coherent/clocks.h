/*
 * clocks.h - the time of each CPU of a machine: what its instructions and accesses cost, and what
 * it waits for: lines that others take at the same time, the bus, the holders of locks.
 *
 * A CPU's clock counts its cycles: one for each instruction (clocks_run()), and for each access
 * what it costs to find the line where it is (clocks_access(), with what mesi.h tells). Three
 * things are waited for:
 *
 * A lock: who takes it goes on no earlier than at the clock at which its last holder gave it back
 * (readers: the last writer; a writer: all). What one does meanwhile, looking at it again and
 * again, takes no further time: the feeder leaves that out. The order in which CPUs take a lock is
 * the order of the calls.
 *
 * A line goes from CPU to CPU one transfer at a time. Each takes what it costs, and the next begins
 * when the line is free. Those who only read a line that others share do not wait.
 *
 * A bus, where there is one, carries one transaction at a time (bus.h).
 *
 * Lines and the bus know what of their time is taken, and a transaction takes the first gap that is
 * long enough: so a CPU whose clock is behind is served as of its own time, though it comes later.
 * Of a line the latest pieces are known (struct timeline); what is before counts as taken. A CPU
 * has to give a line to others so many times before one that is behind waits for that.
 *
 * All is in whole cycles, and nothing depends on the host. Not locked: one thread only. A number of
 * lines or locks for which the host has no memory ends the program with a message.
 */
#pragma once

#include "mesi.h"

/* Cycles beside the instruction's own, by where a line is found; an upgrade takes copies away of a
 * line that is there (if one is of another group: far). bus: of a transaction, 0: there is none. */
struct costs {
	unsigned second, third, memory, near, far, upgrade, bus;
};

#define TIMELINE 24

/* Pieces of time that are taken, in order; all before the first one's end is, too, once pieces have
 * been forgotten. */
struct timeline {
	struct {
		uint64_t begin, end;
	} taken[TIMELINE];
	unsigned pieces;
	uint64_t forgotten; /* up to here */
};

/* Take @length cycles from @now on or later. Returns when they begin. */
uint64_t timeline_take(struct timeline *timeline, uint64_t now, uint64_t length);

/* What an access cost, and of that what was waited for the line and for the bus. */
struct delay {
	uint64_t cycles, for_line, for_bus;
};

struct clocks;

/* All clocks at 0. NULL: no memory. */
struct clocks *clocks_make(const struct costs *costs, unsigned line_bits);
void clocks_free(struct clocks *clocks);

uint64_t clocks_now(const struct clocks *clocks, unsigned cpu);

/* Begin anew: all clocks at 0, nothing taken, no lock given. */
void clocks_reset(struct clocks *clocks);

/* @cpu goes on no earlier than @time: who sleeps goes on when he is woken. Returns the cycles that
 * it slept. */
uint64_t clocks_sleep_until(struct clocks *clocks, unsigned cpu, uint64_t time);

void clocks_run(struct clocks *clocks, unsigned cpu, uint64_t instructions);
struct delay clocks_access(struct clocks *clocks, unsigned cpu, uint64_t physical,
			   const struct mesi_result *result);

/* @cpu takes the lock of the address @lock, alone or as one of its readers. Returns the cycles that
 * it waited. */
uint64_t clocks_take_lock(struct clocks *clocks, unsigned cpu, uint64_t lock, bool reads);

/* @cpu gives it back, now. */
void clocks_give_lock(struct clocks *clocks, unsigned cpu, uint64_t lock, bool reads);
