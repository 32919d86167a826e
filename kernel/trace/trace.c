/*
 * trace.c - the trace behind `./cw run --strace`: what every call of the job was given and
 * answered, as records on the control port; lab/compare/strace.py makes text of them.
 *
 * It costs nothing when it is off: syscall_count is 0 while it is on, so that the entry code takes
 * every call for one that is not in the table. Process 1 is not traced, everything it starts is.
 * A record holds the arguments' registers and, by the types in syscalls.def, copies of what they
 * point to: strings up to STRING_MAX bytes (null: cannot be read), other memory up to BYTES_MAX.
 */
#include <arch/process.h>

#include "core/base/room.h"
#include "core/log/text.h"
#include "kernel/proc/process.h"
#include "kernel/sys/syscalls.h"

#define STRING_MAX 1024
#define BYTES_MAX 64ull /* the longest structure that is shown; of a buffer 32 are */
#define WORDS_MAX 32

static const char *const argument_types[SYSCALL_LIMIT] = {
#define SYSCALL(number, name, arguments, differs) [number] = #arguments,
#include "core/syscalls.def"
#undef SYSCALL
};

/* One record at a time is made here, under trace_lock. */
static DEFINE_MUTEX(trace_lock);
static struct text record;
#define add(...) text_printf(&record, __VA_ARGS__)
static u8 bytes[STRING_MAX]; /* copied */

static void add_copied(u64 count)
{
	lockdep_assert_held(&trace_lock);
	add("\"");
	for (u64 i = 0; i < count; i++)
		add("%02x", bytes[i]);
	add("\"");
}

static void add_string(u64 address)
{
	s64 length = strncpy_from_user((char *)bytes, (const char *)address, STRING_MAX);

	if (length < 0)
		add("null");
	else
		add_copied((u64)length);
}

/* As much as can be read: what it is and how long, the reader knows. */
static void add_bytes(u64 address)
{
	add_copied(BYTES_MAX - copy_from_user(bytes, (const void *)address, BYTES_MAX));
}

/* The strings that an array of pointers names. */
static void add_strings(u64 array)
{
	const u64 *next = (const u64 *)array, *end = next + WORDS_MAX;

	add("[");
	for (u64 string; next < end && !get_user(string, next) && string; next++) {
		add(next > (const u64 *)array ? "," : "");
		add_string(string);
	}
	add("]");
}

static const struct {
	const char *ending; /* of an argument's type */
	bool after;	    /* the call */
	void (*copy)(u64 address);
} pointed[] = {
	{"path_t", false, add_string},	{"string_t", false, add_string},
	{"argv_t", false, add_strings}, {"envp_t", false, add_strings},
	{"in_t", false, add_bytes},	{"out_t", true, add_bytes},
};

/* Copies of what @arguments point to, before or after the call, as a JSON object. */
static void add_memory(const char *types, const u64 *arguments, bool after)
{
	const char *separator = "{", *end;

	/* From the bracket or a comma to the blank behind a type. */
	for (unsigned i = 0; types && (end = strchr(types + 2, ' ')); types = strchr(end, ','), i++)
		for (unsigned p = 0; p < ARRAY_SIZE(pointed); p++) {
			s64 length = (s64)strlen(pointed[p].ending);

			if (pointed[p].after != after || !arguments[i] || end - types <= length ||
			    strncmp(end - length, pointed[p].ending, (size_t)length))
				continue;
			add("%s\"%u\":", separator, i);
			separator = ",";
			pointed[p].copy(arguments[i]);
		}
	add(*separator == '{' ? "{}" : "}");
}

static void trace_record(const char *kind, u64 number, const u64 *arguments, s64 result)
{
	const char *types = NULL; /* none: nothing is copied */
	bool after = *kind == 'r';

	guard(mutex, &trace_lock);
	record.length = 0;
	add("[%d,%llu,", current->pid, number);
	if (after)
		add("%lld,", result);
	else
		add("[%llu,%llu,%llu,%llu,%llu,%llu],", arguments[0], arguments[1], arguments[2],
		    arguments[3], arguments[4], arguments[5]);
	if (result >= 0 && number < SYSCALL_LIMIT)
		types = argument_types[number];
	add_memory(types, arguments, after);
	add("]");
	control_record(kind, record.data, record.length);
}

s64 syscall_other(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f)
{
	u64 number = (u32)current_registers()->orig_ax, arguments[] = {a, b, c, d, e, f};
	bool traced = tracing && current->process != init_process;
	s64 result;

	if (traced)
		trace_record("call", number, arguments, 0);
	result = number < SYSCALL_LIMIT ? syscall_table[number](a, b, c, d, e, f) : -ENOSYS;
	if (traced)
		trace_record("result", number, arguments, result);
	return result;
}

/* If the command line has `strace`: its job is traced. */
static void trace_start(void)
{
	tracing = cmdline_flag("strace");
	if (tracing)
		syscall_count = 0;
}
ROOM_START(trace_start);
