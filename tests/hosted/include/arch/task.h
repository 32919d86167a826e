/* task.h - hosted: the architecture keeps nothing in a task. */
#pragma once

struct arch_task {
	int unused;
};
