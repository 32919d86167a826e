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

#include "kernel/core/cmdline.h"
#include "kernel/core/export.h"
#include "kernel/proc/process.h"
#include "kernel/sys/syscalls.h"

#define STRING_MAX 1024
#define BYTES_MAX 33 /* one more than are shown */
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
static char record[4 * STRING_MAX + WORDS_MAX * (2 * BYTES_MAX + 8)];
static size_t used;

static __printf(1, 2) void add(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	used += (size_t)vscnprintf(record + used, sizeof(record) - used, format, arguments);
	va_end(arguments);
}

static bool add_bytes(u64 address, size_t size, bool string)
{
	u8 bytes[256];
	s64 n;

	for (size_t done = 0; done < size; done += sizeof(bytes)) {
		n = (s64)min(size - done, sizeof(bytes));
		if (string)
			n = strncpy_from_user((char *)bytes, (const char *)address + done,
					      (size_t)n);
		else if (copy_from_user(bytes, (const void *)(address + done), (size_t)n))
			n = -1;
		if (n < 0)
			return false;
		for (s64 i = 0; i < n; i++)
			add("%02x", bytes[i]);
		if (n < (s64)sizeof(bytes))
			break;
	}
	return true;
}

/* The strings that an array of pointers names, or only their number. */
static void add_strings(const u64 *array, bool count_only)
{
	unsigned count = 0;
	u64 string;

	add(count_only ? "" : "[");
	while (!get_user(string, array + count) && string) {
		if (!count_only && count < WORDS_MAX) {
			add(count ? ",\"" : "\"");
			add_bytes(string, BYTES_MAX, true);
			add("\"");
		}
		count++;
	}
	if (count_only)
		add("%u", count);
	else
		add("]");
}

static void add_pointed(const struct pointed *what, const u64 *argument, s64 result)
{
	u64 size = what->amount;
	size_t start = used;

	if (size == STRINGS || size == COUNT) {
		add_strings((const u64 *)*argument, size == COUNT);
		return;
	}
	if (size == AS_NEXT)
		size = min(argument[1], (u64)BYTES_MAX);
	else if (size == AS_RESULT)
		size = min((u64)result, (u64)BYTES_MAX);
	add("\"");
	if (add_bytes(*argument, size == STRING ? STRING_MAX : size, size == STRING)) {
		add("\"");
	} else {
		used = start;
		add("null");
	}
}

/* Copies of what @arguments point to, before or after the call, as a JSON object. */
static void add_memory(const char *types, const u64 *arguments, bool after, s64 result)
{
	const char *separator = "{";

	for (unsigned i = 0; i < 6 && types && *types; i++) {
		types++; /* the bracket, or a blank */
		for (unsigned k = 0; k < ARRAY_SIZE(pointed); k++) {
			size_t length = strlen(pointed[k].type);

			if (strncmp(types, pointed[k].type, length) || types[length] != ' ' ||
			    pointed[k].after != after || !arguments[i])
				continue;
			add("%s\"%u\":", separator, i);
			add_pointed(&pointed[k], &arguments[i], result);
			separator = ",";
		}
		types = strchr(types, ',');
		types = types ? types + 1 : NULL;
	}
	add(*separator == '{' ? "{}" : "}");
}

static void trace_record(const char *kind, u64 number, const u64 *arguments, s64 result)
{
	const char *types = number < SYSCALL_LIMIT ? argument_types[number] : NULL;
	bool after = *kind == 'r';

	mutex_lock(&trace_lock);
	used = 0;
	add("[%d,%llu,", current->pid, (unsigned long long)number);
	if (after)
		add("%lld", (long long)result);
	else
		for (unsigned i = 0; i < 6; i++)
			add("%s%llu", i ? "," : "[", (unsigned long long)arguments[i]);
	add(after ? "," : "],");
	if (result >= 0)
		add_memory(types, arguments, after, result);
	else
		add("{}");
	add("]");
	control_record(kind, record, used);
	mutex_unlock(&trace_lock);
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
