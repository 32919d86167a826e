/*
 * proc.c - scenarios of what /proc tells and is told: the score of who is ended when memory is out,
 * fields of status, namespaces, and /proc/sys.
 */
#include "../scenarios.h"

#include <ctype.h>
#include <sys/prctl.h>

static const char *text_of(const char *name)
{
	static char text[4096];
	int fd = open(name, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	close(fd);
	text[n > 0 ? n : 0] = 0;
	return text;
}

static long write_to(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY);
	long result = fd < 0 ? -1 : write(fd, text, strlen(text));

	close(fd);
	return result;
}

/* ---- the score ---------------------------------------------------------------------------------
 */

#define ADJUST "/proc/self/oom_score_adj"

/* As a program of an ordinary user, whose /proc/self is its own. */
__attribute__((constructor)) static void adjust_as_a_user(void)
{
	long low, high;

	if (!getenv("ADJUST_SCORE"))
		return;
	T(write_to(ADJUST, "300"));
	T(atoi(text_of(ADJUST)));
	T(write_to(ADJUST, "0"));
	low = atol(text_of("/proc/self/oom_score"));
	T(write_to(ADJUST, "1000\n"));
	high = atol(text_of("/proc/self/oom_score"));
	T(high > low + 600 && low >= 600 && high <= 1999);
	T(write_to(ADJUST, "-1"));
	T(write_to(ADJUST, "1001"));
	T(write_to(ADJUST, "-1001"));
	T(write_to(ADJUST, "many"));
	T(write_to(ADJUST, "5x"));
	T(write_to(ADJUST, "-"));
	T(write_to(ADJUST, "500"));
	if (!fork()) { /* a child has what its parent had */
		T(atoi(text_of(ADJUST)));
		T(write_to(ADJUST, "20"));
		_exit(0);
	}
	wait(NULL);
	T(atoi(text_of(ADJUST)));
	T(write_to("/proc/1/oom_score_adj", "5"));
	T(write_to("/proc/self/oom_score", "5"));
	_exit(0);
}

SCENARIO(out_of_memory_score)
{
	struct stat st;

	copy_myself("program", 0755);
	T(stat(ADJUST, &st));
	say("%o", st.st_mode);
	AS(USER_A)
	{
		execle("program", "program", (char *)NULL, (char *[]){"ADJUST_SCORE=1", NULL});
	}
}

/* ---- status ------------------------------------------------------------------------------------
 */

/* The value of a field of our status, without blanks; "" if it is not there. */
static const char *field(const char *name)
{
	const char *at = text_of("/proc/self/status");
	static char value[100];
	size_t length = strlen(name);
	int n = 0;

	while (at && strncmp(at, name, length)) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	for (at = at ? at + length : ""; *at && *at != '\n' && n < 99; at++)
		if (!isspace(*at))
			value[n++] = *at;
	value[n] = 0;
	return value;
}

SCENARIO(status_fields)
{
	static const char *const known[] = {
		"Name:",	 "Umask:",
		"State:",	 "Tgid:",
		"Ngid:",	 "Pid:",
		"PPid:",	 "TracerPid:",
		"Uid:",		 "Gid:",
		"FDSize:",	 "Groups:",
		"NStgid:",	 "NSpid:",
		"NSpgid:",	 "NSsid:",
		"VmSize:",	 "VmLck:",
		"VmPin:",	 "VmRSS:",
		"RssAnon:",	 "VmData:",
		"VmSwap:",	 "HugetlbPages:",
		"CoreDumping:",	 "THP_enabled:",
		"Threads:",	 "SigPnd:",
		"ShdPnd:",	 "SigBlk:",
		"SigIgn:",	 "SigCgt:",
		"CapInh:",	 "CapPrm:",
		"CapEff:",	 "CapBnd:",
		"CapAmb:",	 "NoNewPrivs:",
		"Seccomp:",	 "Seccomp_filters:",
		"Cpus_allowed:", "Cpus_allowed_list:",
	};
	char *copy = strdup(text_of("/proc/self/status")), *rest = copy, *line;

	while ((line = strsep(&rest, "\n"))) { /* in their order */
		line[strcspn(line, "\t")] = 0;
		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			if (!strcmp(line, known[i]))
				say("%s", line);
	}
	T(atoi(field("NStgid:")) == getpid());
	T(atoi(field("NSpid:")) == getpid());
	T(atoi(field("NSpgid:")) == getpgrp());
	T(atoi(field("NSsid:")) == getsid(0));
	say("%s %s %s %s", field("VmLck:"), field("VmPin:"), field("VmSwap:"),
	    field("HugetlbPages:"));
	T(atoi(field("CoreDumping:")));
	T(atoi(field("NoNewPrivs:")));
	T(atoi(field("Seccomp:")));
	T(atol(field("RssAnon:")) > 0 && atol(field("RssAnon:")) <= atol(field("VmRSS:")));
	dup2(1, 300);
	T(atoi(field("FDSize:")));
	if (!fork()) {
		dup2(1, 600);
		T(atoi(field("FDSize:")));
		_exit(0);
	}
	wait(NULL);
	T(strtol(field("Cpus_allowed:"), NULL, 16) & 1);
	T(strcmp(field("Cpus_allowed_list:"), "") > 0);
}

SCENARIO(status_of_signals)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), SIGUSR1);
	syscall(SYS_tkill, getpid(), SIGUSR2);
	say("SigPnd:%s", field("SigPnd:"));
	say("ShdPnd:%s", field("ShdPnd:"));
	say("SigBlk:%s", field("SigBlk:"));
}

/* ---- namespaces --------------------------------------------------------------------------------
 */

SCENARIO(namespaces)
{
	static const char *const kinds[] = {"cgroup", "ipc",  "mnt",  "net",
					    "pid",    "time", "user", "uts"};
	char name[64], own[64], childs[64], kind[32];
	unsigned long number;

	list("/proc/self/ns");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		memset(own, 0, sizeof(own));
		memset(childs, 0, sizeof(childs));
		snprintf(name, sizeof(name), "/proc/self/ns/%s", kinds[i]);
		readlink(name, own, sizeof(own) - 1);
		snprintf(name, sizeof(name), "/proc/%d/task/%d/ns/%s", getpid(), getpid(),
			 kinds[i]);
		readlink(name, childs, sizeof(childs) - 1);
		T(sscanf(own, "%31[a-z]:[%lu]", kind, &number));
		say("%s %d %d", kind, number >= 4026531832, !strcmp(own, childs));
	}
	show_mode("/proc/self/ns");
	show_mode("/proc/self/ns/mnt");
	AS(USER_A)
	{
		T(readlink("/proc/1/ns/mnt", own, sizeof(own)));
	}
	T(readlink("/proc/self/ns/none", own, sizeof(own)));
}

/* ---- /proc/sys ---------------------------------------------------------------------------------
 */

/* Its first number, as far as it is above 0. */
static void show_positive(const char *name)
{
	say("%s:%d", strrchr(name, '/') + 1, atol(text_of(name)) > 0);
}

SCENARIO(system_settings)
{
	char first[64], second[64];
	long open_now, unused, most;

	say("%s", strtok((char *)text_of("/proc/sys/kernel/ostype"), "\n"));
	show_positive("/proc/sys/kernel/pid_max");
	show_positive("/proc/sys/kernel/threads-max");
	show_positive("/proc/sys/kernel/ngroups_max");
	show_positive("/proc/sys/kernel/cap_last_cap");
	show_positive("/proc/sys/kernel/random/entropy_avail");
	show_positive("/proc/sys/fs/file-max");
	show_positive("/proc/sys/fs/nr_open");
	show_positive("/proc/sys/fs/pipe-max-size");
	T(sscanf(text_of("/proc/sys/fs/file-nr"), "%ld\t%ld\t%ld\n", &open_now, &unused, &most));
	T(open_now > 0 && open_now < most);
	T(unused);
	T(*text_of("/proc/sys/kernel/version") == '#');
	strcpy(first, text_of("/proc/sys/kernel/random/boot_id"));
	strcpy(second, text_of("/proc/sys/kernel/random/boot_id"));
	T(strcmp(first, second));
	first[strcspn(first, "\n")] = 0;
	putchar(' ');
	for (int i = 0; first[i]; i++)
		putchar(isxdigit(first[i]) && i != 14 ? 'x' : first[i]);
	T(strchr("89ab", first[19]) != NULL);
	strcpy(second, text_of("/proc/sys/kernel/random/uuid"));
	T(strlen(second));
	T(second[14] == '4' && strchr("89ab", second[19]) != NULL);
	T(strcmp(second, text_of("/proc/sys/kernel/random/uuid")) != 0);
}

/* ---- names that look like lines ----------------------------------------------------------------
 */

/* How many lines of the file @name begin with @start. */
static int lines_with(const char *name, const char *start)
{
	FILE *file = fopen(name, "r");
	char line[4096];
	int count = 0;

	while (file && fgets(line, sizeof(line), file))
		count += !strncmp(line, start, strlen(start));
	if (file)
		fclose(file);
	return count;
}

SCENARIO(names_forge_no_lines)
{
	void *at;

	T(prctl(PR_SET_NAME, "a\nUid:\t0\t0"));
	AS(USER_A)
	{
		T(lines_with("/proc/self/status", "Uid:"));
		say("%s", field("Uid:"));
	}
	T(lines_with("/proc/self/comm", "Uid:"));
	make_file("x\ny", "text");
	at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, open("x\ny", O_RDONLY), 0);
	T(at != MAP_FAILED);
	T(lines_with("/proc/self/maps", "y"));
}
