/* start.h - swap at start-up: ROOM_START(), and the hosted build. */
#pragma once

/* Boot, before /proc is mounted, when threads can be made: /proc/swaps, and swap's thread. */
void swap_files_init(void);
