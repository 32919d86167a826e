/*
 * fork.c - what a child shares and what it copies.
 */
#include "memory.h"

static char *area, *shared_area;

static void child_writes(void)
{
	for (int i = 0; i < 100; i++)
		CHECK(area[i * PAGE] == (char)(i + 1));
	memset(area, 77, 100 * PAGE);
	CHECK(shared_area[0] == 1 && shared_area[50 * PAGE] == 0);
	shared_area[50 * PAGE] = 42;
	shared_area[PAGE] = 43;
}

static void copy_on_write(void)
{
	area = filled(100);
	shared_area = map(100, RW, SHARED_ANON);
	CHECK(area && shared_area);
	shared_area[0] = 1;
	shared_area[PAGE] = 1;
	CHECK(in_child(child_writes) == 0);
	CHECK(holds(area, 100) && shared_area[50 * PAGE] == 42 && shared_area[PAGE] == 43);
	CHECK(try_write(area) == 0);
	CHECK(munmap(area, 100 * PAGE) == 0 && munmap(shared_area, 100 * PAGE) == 0);
}

static void deeper(void)
{
	CHECK(holds(area, 100));
	area[0] = 99;
	CHECK(in_child(child_writes) != 0); /* it sees 99 */
	area[0] = 1;
	CHECK(in_child(child_writes) == 0 && holds(area, 100));
}

static void copy_of_a_copy(void)
{
	area = filled(100);
	shared_area = map(100, RW, SHARED_ANON);
	CHECK(area && shared_area);
	shared_area[0] = 1;
	CHECK(in_child(deeper) == 0 && holds(area, 100));
	CHECK(munmap(area, 100 * PAGE) == 0 && munmap(shared_area, 100 * PAGE) == 0);
}

static void shared_file_child(void)
{
	CHECK(shared_area[0] == 'a');
	shared_area[0] = 'C';
	shared_area[30 * PAGE] = 'D';
}

static void shared_file_after_fork(void)
{
	int fd = make_file("forked", 40);
	char c;

	shared_area = mmap(NULL, 40 * PAGE, RW, MAP_SHARED, fd, 0);
	CHECK(fd >= 0 && shared_area != MAP_FAILED && shared_area[30 * PAGE] == 'e');
	CHECK(in_child(shared_file_child) == 0);
	CHECK(shared_area[0] == 'C' && shared_area[30 * PAGE] == 'D');
	CHECK(pread(fd, &c, 1, 30 * PAGE) == 1 && c == 'D');
	CHECK(munmap(shared_area, 40 * PAGE) == 0);
	close(fd);
}

static void kernel_copies_on_write_child(void)
{
	int pipes[2];

	CHECK(pipe(pipes) == 0 && write(pipes[1], "kernel", 6) == 6);
	CHECK(read(pipes[0], area, 6) == 6 && memcmp(area, "kernel", 6) == 0);
}

static void kernel_copies_on_write(void)
{
	area = filled(100);
	CHECK(area && in_child(kernel_copies_on_write_child) == 0 && holds(area, 100));
	CHECK(munmap(area, 100 * PAGE) == 0);
}

static void many_forks(void)
{
	area = filled(64);
	for (int i = 0; i < 200; i++) {
		pid_t child = fork();

		CHECK(child >= 0);
		if (!child) {
			area[(i % 64) * PAGE] = 0;
			_exit(i & 127);
		}
		int status;
		CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == (i & 127));
	}
	CHECK(holds(area, 64) && munmap(area, 64 * PAGE) == 0);
}

const struct check fork_checks[] = {
	{"copy_on_write", copy_on_write, false},
	{"copy_of_a_copy", copy_of_a_copy, false},
	{"shared_file_after_fork", shared_file_after_fork, false},
	{"kernel_copies_on_write", kernel_copies_on_write, false},
	{"many_forks", many_forks, false},
	{0},
};
