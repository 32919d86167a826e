/*
 * room.h - how an optional room begins: by itself, so that nobody in front of it names it.
 */
#pragma once

/*
 * ROOM_START(function): @function, a void (void), runs once at boot, in a kernel thread that may
 * sleep: memory, the scheduler and the caches are up; disks, the mounted root and the first process
 * are not yet. Among rooms there is no order. The linker gathers them, as Linux does initcalls.
 */
#define ROOM_START(function)                                                                       \
	static void (*const function##_entry)(void)                                                \
		__attribute__((used, section("room_starts"))) = (function)
