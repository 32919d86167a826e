/*
 * rare.h - start-up of what few programs ask for.
 */
#pragma once

/* Before /proc is first mounted, and before there are processes. */
void rare_init(void);
/* Its parts: */
void cpu_timers_init(void);
