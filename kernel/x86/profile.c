/*
 * profile.c - where the kernel's time goes. With profile=NS on the command line a timer of that
 * mean period on every CPU looks at what its interrupt has interrupted, and counts how often it
 * found the same stack. Writing 1 to /proc/profile begins anew, 0 ends it and sends what was found
 * to the control port; init does so around its job. Reading it gives a line with the number of
 * samples, then a line for each stack: how often, and the addresses in it from the inside out; none
 * in what programs did themselves. An idle CPU is in sched_idle_loop().
 *
 * Under icount the interrupts come at the same instructions in every run. What runs with interrupts
 * off is found where it turns them on again. A stack deeper than DEPTH loses its outer end; one
 * that finds no room in the table is not counted, but among the samples.
 */
#include "fs/proc/proc.h"
#include "kernel/proc/process.h"
#include "kernel/x86/x86.h"

#define STACKS 8192
#define DEPTH 30
#define PROBES 32
#define SCATTER 0x9e3779b97f4a7c15ULL
#define PERIOD_MIN 10000ULL /* a shorter one leaves programs no time */

static struct stack {
	u64 count; /* 0: free */
	u64 addresses[DEPTH];
} *stacks; /* NULL: no profile= */

static struct timer timers[NR_CPUS];
static u64 period_ns, samples;
static bool running;
static DEFINE_SPINLOCK(profile_lock); /* for all of these */

static void take_sample(void *unused)
{
	u64 frame = (u64)(uintptr_t)this_cpu()->interrupted | 1; /* as entry code leaves it */
	struct stack found = {0};
	u64 address, hash = 0;

	/* Half to one and a half periods, so that no loop of the job keeps step. */
	timer_start(&timers[cpu_id()],
		    ktime_ns() + period_ns / 2 + (samples * SCATTER >> 32) % period_ns);
	for (unsigned i = 0; i < DEPTH && (s64)(address = arch_caller(&frame)) < 0; i++) {
		found.addresses[i] = address;
		hash = (hash ^ address) * SCATTER;
	}
	guard(spinlock, &profile_lock);
	samples += running;
	for (unsigned i = 0; running && i < PROBES; i++) {
		struct stack *stack = &stacks[((hash >> 40) + i) % STACKS];

		if (!stack->count)
			*stack = found;
		if (!memcmp(stack->addresses, found.addresses, sizeof(found.addresses))) {
			stack->count++;
			return;
		}
	}
}

/* On each CPU, the boot CPU first. */
void profile_init_cpu(void)
{
	if (cpu_id() == 0 && cmdline_u64("profile", &period_ns))
		stacks = kzalloc(STACKS * sizeof(*stacks), GFP_KERNEL);
	if (!stacks)
		return;
	period_ns = max(period_ns, PERIOD_MIN);
	timer_init(&timers[cpu_id()], take_sample, NULL);
	timer_start(&timers[cpu_id()], ktime_ns() + period_ns);
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

int proc_profile_write(const char *text, size_t length)
{
	struct text out = {0};

	if (!stacks)
		return -ENODEV;
	WRITE_ONCE(running, false);
	if (text[0] == '0') {
		proc_profile_show(&out, NULL);
		if (!out.error)
			control_record("profile", out.data, out.length);
		kfree(out.data);
		return out.error;
	}
	guard(spinlock_irqsave, &profile_lock);
	memset(stacks, 0, STACKS * sizeof(*stacks));
	samples = 0;
	running = true;
	return 0;
}
