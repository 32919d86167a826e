/*
 * init.h - process 1, and the end of the machine.
 */
#pragma once

#include "kernel/core/kernel.h"

/* Boot: make process 1, which mounts the root file system and runs the first program. */
void init_start(void);

/* Process 1 ended with wait status @status: nothing can go on. */
__noreturn void init_exited(int status);

/* Write everything back, print the reports, end the control port's stream, and go. */
__noreturn void machine_shutdown(bool reboot);
