/*
 * trace.c - the trace behind `./cw run --strace`: what every call of the job was given and
 * answered, as records on the control port; lab/strace.py makes text of them.
 *
 * It costs nothing when it is off: syscall_count is 0 while it is on, so that the entry code takes
 * every call for one that is not in the table. Process 1 is not traced, everything it starts is.
 * A record holds the arguments' registers and, by the types in syscalls.def, copies of what they
 * point to, cut to STRING_MAX and BYTES_MAX bytes; memory that cannot be read is null.
 */
#include <arch/signal.h>

#include "hash/text.h"
#include "kernel/proc/process.h"
#include "kernel/sys/syscalls.h"

#define STRING_MAX 1024
#define BYTES_MAX 33ull /* one more than are shown */
#define WORDS_MAX 32

u32 syscall_count = SYSCALL_LIMIT;

static const char *const argument_types[SYSCALL_LIMIT] = {
#define SYSCALL(number, name, arguments, differs) [number] = #arguments,
#include "kernel/sys/syscalls.def"
#undef SYSCALL
};

enum amount { STRING = 1000, STRINGS, COUNT, AS_NEXT, AS_RESULT };

static const struct pointed {
	const char *type;
	u16 amount; /* of memory to copy: bytes, or one of enum amount */
	bool after; /* the call */
} pointed[] = {
	{"path_t", STRING, false},	  {"string_t", STRING, false},
	{"argv_t", STRINGS, false},	  {"envp_t", COUNT, false},
	{"in_t", AS_NEXT, false},	  {"sigset_in_t", 8, false},
	{"sigaction_in_t", 32, false},	  {"timespec_in_t", 16, false},
	{"timespecs_in_t", 32, false},	  {"rlimit_in_t", 16, false},
	{"clone_arguments_t", 64, false}, {"out_t", AS_RESULT, true},
	{"text_out_t", AS_RESULT, true},  {"pair_out_t", 8, true},
	{"status_out_t", 4, true},	  {"sigset_out_t", 8, true},
	{"stat_out_t", 144, true},	  {"sigaction_out_t", 32, true},
	{"timespec_out_t", 16, true},	  {"rlimit_out_t", 16, true},
};

/* One record at a time is made here, under trace_lock. */
static DEFINE_MUTEX(trace_lock);
static struct text record;
#define add(...) text_printf(&record, __VA_ARGS__)

/* Memory of the program in hexadecimal, in quotes; null if it cannot be read. */
static void add_bytes(u64 address, size_t size, bool string)
{
	static u8 bytes[STRING_MAX];
	s64 n = (s64)size;

	if (string)
		n = strncpy_from_user((char *)bytes, (const char *)address, size);
	else if (copy_from_user(bytes, (const void *)address, size))
		n = -EFAULT;
	add(n < 0 ? "null" : "\"");
	for (s64 i = 0; i < n; i++)
		add("%02x", bytes[i]);
	add(n < 0 ? "" : "\"");
}

/* The strings that an array of pointers names, or only their number. */
static void add_strings(const u64 *array, bool count_only)
{
	unsigned count = 0;

	add(count_only ? "" : "[");
	for (u64 string; !get_user(string, array + count) && string; count++) {
		if (count_only || count >= WORDS_MAX)
			continue;
		add(count ? "," : "");
		add_bytes(string, BYTES_MAX, true);
	}
	if (count_only)
		add("%u", count);
	else
		add("]");
}

/* Copies of what @arguments point to, before or after the call, as a JSON object. */
static void add_memory(const char *types, const u64 *arguments, bool after, s64 result)
{
	const char *separator = "{";

	for (unsigned i = 0; i < 6 && types; i++, types = strchr(types, ',')) {
		types++; /* the bracket, or a comma */
		types += *types == ' ';
		for (const struct pointed *p = pointed; p < pointed + ARRAY_SIZE(pointed); p++) {
			size_t length = strlen(p->type);

			if (strncmp(types, p->type, length) || types[length] != ' ' ||
			    p->after != after || !arguments[i])
				continue;
			add("%s\"%u\":", separator, i);
			separator = ",";
			if (p->amount == STRINGS || p->amount == COUNT)
				add_strings((const u64 *)arguments[i], p->amount == COUNT);
			else
				add_bytes(arguments[i],
					  p->amount == STRING	 ? STRING_MAX
					  : p->amount == AS_NEXT ? min(arguments[i + 1], BYTES_MAX)
					  : p->amount == AS_RESULT ? min((u64)result, BYTES_MAX)
								   : p->amount,
					  p->amount == STRING);
		}
	}
	add(*separator == '{' ? "{}" : "}");
}

static void trace_record(const char *kind, u64 number, const u64 *arguments, s64 result)
{
	bool after = *kind == 'r';

	guard(mutex, &trace_lock);
	record.length = 0;
	add("[%d,%llu,", current->pid, number);
	if (after)
		add("%lld,", result);
	for (unsigned i = 0; i < 6 && !after; i++)
		add("%s%llu%s", i ? "," : "[", arguments[i], i < 5 ? "" : "],");
	add_memory(result < 0 || number >= SYSCALL_LIMIT ? NULL : argument_types[number], arguments,
		   after, result);
	add("]");
	control_record(kind, record.data, record.length);
}

s64 syscall_other(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f)
{
	u64 number = (u32)arch_syscall_number(current_registers()),
	    arguments[] = {a, b, c, d, e, f};
	bool traced = tracing && current->process != init_process;
	s64 result;

	if (traced)
		trace_record("call", number, arguments, 0);
	result = number < SYSCALL_LIMIT ? syscall_table[number](a, b, c, d, e, f) : -ENOSYS;
	if (traced)
		trace_record("result", number, arguments, result);
	return result;
}

void trace_init(void)
{
	tracing = cmdline_flag("strace");
	if (tracing)
		syscall_count = 0;
}
