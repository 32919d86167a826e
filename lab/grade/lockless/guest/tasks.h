/*
 * tasks.h - what tasks.c, contexts.S and interleave.c share: the last 64 KB before the table's
 * memory are the machine's own, and no submission has anything to look for there.
 */
#pragma once

#define OWN 0xff0000
#define OWN_END 0x1000000
#define NEXT 0xff1000	  /* the context to go on with, and one more; 0: stay */
#define CURRENT 0xff1008  /* the context that runs */
#define CONTEXTS 0xff1040 /* their stack pointers */
#define STEPS 0xff1080	  /* a struct steps */
#define BOXES 0xff1100
#define STACKS 0xff4000 /* of context 1, 2, 3 */
#define STACK_BYTES 0x4000
#define TASKS 3 /* and context 0, which sets tables up */

#ifndef __ASSEMBLER__
/* Behind mailbox.h. Tasks find here what they are asked, as context 0 does in the mailbox. */
struct box {
	struct asked asked;
	uint64_t answer;
};

/* Where code and tables of the machine lie, for interleave.c. */
struct steps {
	uint64_t begin, end; /* contexts.S: all of it, */
	uint64_t step;	     /* behind each step, */
	uint64_t enter;	     /* and to the tasks */
	struct kept kept;
};

/* Of context 0: let the tasks run until they have nothing more to do; let them go on. */
enum ask_tasks { ASK_RUN = 5, ASK_GO_ON };
#endif
