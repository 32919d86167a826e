/*
 * runner.c - hosted: runs TEST()s, one by one, each in a process of its own.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hosted/machine/hosted.h"

bool test_failure_aborts;

static struct hosted_test *tests, **tests_end = &tests;
static const char *test_name = "?";
static char where[128];
static unsigned failures;

/* A panic shows where it came from. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "handle_abort=1:exitcode=99";
}

void test_register(struct hosted_test *test)
{
	*tests_end = test;
	tests_end = &test->next;
}

u64 test_seed(void)
{
	const char *text = getenv("HOSTED_SEED");

	return text ? strtoull(text, NULL, 0) : 1;
}

unsigned test_scaled(unsigned n)
{
	const char *text = getenv("HOSTED_SCALE");
	double scaled = text ? n * strtod(text, NULL) : n;

	return scaled < 1 ? 1 : (unsigned)scaled;
}

void test_limit_step(unsigned seconds)
{
	struct itimerval timer = {.it_value.tv_sec = (time_t)seconds};

	setitimer(ITIMER_PROF, &timer, NULL);
}

void test_limit(unsigned seconds)
{
	double scale = test_scaled(1000) / 1000.0;

	test_limit_step((unsigned)(seconds * (scale > 1 ? scale : 1)));
}

void test_where(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(where, sizeof(where), format, arguments);
	va_end(arguments);
}

const char *test_place(void)
{
	return where;
}

static void finish(void)
{
	test_limit_step(0);
	printf("%s %s\n", failures ? "not ok" : "ok", test_name);
	fflush(stdout);
}

void test_failed(const char *file, int line, const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "%s: %s%s%s:%d: ", test_name, where, *where ? ": " : "", file, line);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, "\n");
	if (test_failure_aborts)
		abort();
	if (++failures >= 10) {
		finish();
		_exit(1);
	}
}

static void too_long(int signal)
{
	(void)signal;
	fprintf(stderr, "\n%s: hangs: over its time limit\n", where); /* it is over anyway */
	/* with the sanitizer's trace */
	abort();
}

static int run_here(const struct hosted_test *test)
{
	test_name = test->name;
	signal(SIGPROF, too_long);
	test_limit(100);
	test->run();
	finish();
	return failures ? 1 : 0;
}

/* In a process of its own: a crash is this test's alone. */
static int run_apart(const struct hosted_test *test)
{
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0)
		exit(run_here(test));
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 1;
	if (WIFEXITED(status) && WEXITSTATUS(status) <= 1)
		return WEXITSTATUS(status);
	printf("not ok %s: died\n", test->name);
	return 1;
}

static struct hosted_test *find(const char *name)
{
	struct hosted_test *test = tests;

	while (test && strcmp(test->name, name) != 0)
		test = test->next;
	return test;
}

int test_main(int argc, char **argv)
{
	int status = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		for (struct hosted_test *test = tests; test; test = test->next)
			printf("%s\n", test->name);
		return 0;
	}
	for (int i = 1; i < argc; i++)
		if (!find(argv[i])) {
			fprintf(stderr, "%s: no test %s; --list names them\n", argv[0], argv[i]);
			return 2;
		}
	if (argc == 2)
		return run_here(find(argv[1]));
	for (int i = 1; i < argc; i++)
		status |= run_apart(find(argv[i]));
	for (struct hosted_test *test = argc == 1 ? tests : NULL; test; test = test->next)
		status |= run_apart(test);
	return status;
}
