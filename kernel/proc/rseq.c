/*
 * rseq.c - restartable sequences, rseq(2): a program learns which CPU it runs on without a call,
 * and a piece of its code that a switch or a signal interrupted is begun anew.
 *
 * The thread registers 32 bytes of its memory. Whenever it returns to user mode after a switch or
 * into a signal's handler, the CPU's number is written there, and if it was inside the sequence
 * that the area names, it goes on at that sequence's abort address.
 */
#include <arch/mmu.h>
#include <arch/signal.h>

#include "kernel/core/errno.h"
#include "kernel/core/sched.h"
#include "kernel/core/uaccess.h"
#include "kernel/proc/process.h"

#define RSEQ_FLAG_UNREGISTER 1
#define RSEQ_CPU_UNINITIALIZED (~0u)

struct rseq { /* the ABI's, in the program's memory */
	u32 cpu_id_start, cpu_id;
	u64 sequence;
	u32 flags, padding[3];
};

struct rseq_sequence {
	u32 version, flags;
	u64 start, length, abort;
};

static int write_cpu(struct rseq *area, u32 start, u32 cpu)
{
	return put_user(start, &area->cpu_id_start) || put_user(cpu, &area->cpu_id) ? -EFAULT : 0;
}

/* Leave a sequence that was interrupted. 0, -EFAULT, -EINVAL. */
static int abort_sequence(struct rseq *area, struct registers *registers)
{
	struct rseq_sequence sequence;
	u64 ip = arch_user_ip(registers), address;
	u32 signature;

	if (get_user(address, &area->sequence))
		return -EFAULT;
	if (!address)
		return 0;
	if (copy_from_user(&sequence, (void *)address, sizeof(sequence)))
		return -EFAULT;
	if (sequence.version || sequence.start >= USER_TOP || sequence.abort >= USER_TOP ||
	    sequence.abort - sequence.start < sequence.length ||
	    get_user(signature, (u32 *)(sequence.abort - 4)) ||
	    signature != current->rseq_signature)
		return -EINVAL;
	if (put_user(0ULL, &area->sequence))
		return -EFAULT;
	if (ip - sequence.start < sequence.length)
		arch_user_ip(registers) = sequence.abort;
	return 0;
}

void rseq_return(struct registers *registers)
{
	struct rseq *area = (struct rseq *)current->rseq_area;
	u32 cpu = cpu_id();

	if (area && (abort_sequence(area, registers) || write_cpu(area, cpu, cpu)))
		force_signal(SIGSEGV, SI_KERNEL, (u64)area);
}

s64 rseq_register(u64 area, u32 length, int flags, u32 signature)
{
	struct task *task = current;

	if (flags & RSEQ_FLAG_UNREGISTER) {
		if (flags != RSEQ_FLAG_UNREGISTER || !area || task->rseq_area != area ||
		    length != sizeof(struct rseq))
			return -EINVAL;
		if (task->rseq_signature != signature)
			return -EPERM;
		task->rseq_area = 0;
		return write_cpu((struct rseq *)area, 0, RSEQ_CPU_UNINITIALIZED);
	}
	if (flags)
		return -EINVAL;
	if (task->rseq_area)
		return task->rseq_area != area || length != sizeof(struct rseq) ? -EINVAL
		       : task->rseq_signature != signature			? -EPERM
										: -EBUSY;
	if (area % sizeof(struct rseq) || length != sizeof(struct rseq))
		return -EINVAL;
	if (!access_ok(area, length))
		return -EFAULT;
	task->rseq_area = area;
	task->rseq_signature = signature;
	sched_rseq(task);
	return 0;
}
