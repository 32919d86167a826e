/* task.h - hosted: the architecture keeps nothing in a task. */
#ifndef ARCH_TASK_H
#define ARCH_TASK_H

struct arch_task {
	int unused;
};

#endif
