/*
 * profile.c - where the kernel's time goes. Writing a number of nanoseconds to /proc/profile begins
 * anew: a timer of that mean period looks at what its interrupt has interrupted on the CPU that
 * wrote, and counts how often it found the same stack. 0 ends it and sends what was found to the
 * control port; init does so around its job. Reading it gives a line with the number of samples,
 * then a line for each stack: how often, and the addresses in it from the inside out; none in what
 * programs did themselves. An idle CPU is in sched_idle_loop().
 *
 * Under icount the interrupts come at the same instructions in every run. What runs with interrupts
 * off is found where it turns them on again. A stack deeper than DEPTH loses its outer end; one
 * that finds no room in the table is not counted, but among the samples.
 *
 * There is one timer, and who writes stops it first, so what it fills needs no lock; write_lock
 * keeps a second writer from starting it meanwhile.
 */
#include <arch/report.h>

#include "arch/x86/x86.h"
#include "core/kernel.h"
#include "core/log/text.h"
#include "core/memory/slab.h"

#define STACKS 8192
#define DEPTH 30
#define PROBES 32
#define SCATTER 0x9e3779b97f4a7c15ULL
#define PERIOD_MIN 10000 /* a shorter one leaves programs no time */

static struct stack {
	u64 count; /* 0: free */
	u64 addresses[DEPTH];
} *stacks; /* NULL until it is first begun; stays */

static DEFINE_MUTEX(write_lock);
static u64 period_ns, samples;
static void take_sample(void *);
static struct timer timer = {.function = take_sample, .cpu = -1};

static void take_sample(void *unused)
{
	u64 frame = (u64)(uintptr_t)this_cpu()->interrupted | 1; /* as entry code leaves it */
	struct stack found = {0};
	u64 address, hash = 0;

	/* Half to one and a half periods, so that no loop of the job keeps step. */
	timer_start(&timer, ktime_ns() + period_ns / 2 + (samples++ * SCATTER >> 32) % period_ns);
	for (unsigned i = 0; i < DEPTH && (s64)(address = arch_caller(&frame)) < 0; i++) {
		found.addresses[i] = address;
		hash = (hash ^ address) * SCATTER;
	}
	for (unsigned i = 0; i < PROBES; i++) {
		struct stack *stack = &stacks[((hash >> 40) + i) % STACKS];

		if (!stack->count)
			*stack = found;
		if (!memcmp(stack->addresses, found.addresses, sizeof(found.addresses))) {
			stack->count++;
			return;
		}
	}
}

/* Without @entry: for the control port, as a JSON string, with a mark for each line end. */
void proc_profile_show(struct text *out, const struct proc_entry *entry)
{
	const char *quote = entry ? "" : "\"", *end = entry ? "\n" : ";";

	text_printf(out, "%speriod_ns %llu samples %llu%s", quote, period_ns, samples, end);
	for (const struct stack *stack = stacks; stack < stacks + (stacks ? STACKS : 0); stack++) {
		if (!stack->count)
			continue;
		text_printf(out, "%llu", stack->count);
		for (unsigned i = 0; i < DEPTH && stack->addresses[i]; i++)
			text_printf(out, " %llx", stack->addresses[i]);
		text_printf(out, "%s", end);
	}
	text_printf(out, "%s", quote);
}

int proc_profile_write(const struct proc_entry *entry, const char *text, size_t length)
{
	u64 period = memparse(text, &text);
	struct text out = {0};

	if (period && period < PERIOD_MIN)
		return -EINVAL;
	guard(mutex, &write_lock);
	stacks = stacks ?: TRY_PTR(kzalloc(STACKS * sizeof(*stacks), GFP_KERNEL));
	timer_cancel(&timer);
	if (period) {
		memset(stacks, 0, STACKS * sizeof(*stacks));
		samples = 0;
		period_ns = period;
		timer_start(&timer, ktime_ns() + period);
		return 0;
	}
	proc_profile_show(&out, NULL);
	if (!out.error)
		control_record("profile", out.data, out.length);
	kfree(out.data);
	return out.error;
}
