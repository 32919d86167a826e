/*
 * turn_event.h - what a mark of SHORT_TURNS says, in numbers that the kernel (turns.h) and the
 * simulation of several CPUs (lab/run/cachesim/coherent) share: plain C, nothing else in it.
 */
#pragma once

enum turn_event {
	TURN_ASIDE,	    /* what follows is of the simulation */
	TURN_BACK,	    /* ... and no more */
	TURN_LOCK,	    /* the next two reads are of the lock and of its class */
	TURN_TRY,	    /* this lock is wanted: what follows is waiting; ends TURN_ASIDE */
	TURN_TAKEN,	    /* it is had, alone */
	TURN_TAKEN_READING, /* or with other readers */
	TURN_SLEEP,	    /* it is not had, and who wants it goes to sleep */
	TURN_GIVE,	    /* the next write to its line gives it back; ends TURN_ASIDE */
	TURN_GIVE_READING,
	TURN_MAY_END, /* the next two reads are of this CPU's turn_ahead */
	TURN_HALT,    /* this CPU has nothing to do, until it executes something again */
};
