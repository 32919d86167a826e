/*
 * hostile.c - programs that mean harm, or might: what the kernel must outlive. Each part is named on the
 * command line, prints one line, "NAME: ok ..." or "NAME: WRONG ...", and runs on Linux as well.
 */
#include "hostile.h"

int wrong;
static uint64_t state = 88172645463325252ULL;

uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

void check(bool right, const char *what, long value)
{
	if (right)
		return;
	wrong++;
	printf("  not as it must be: %s (%ld, errno %d)\n", what, value, errno);
}

void pause_ms(long ms)
{
	struct timespec time = {ms / 1000, ms % 1000 * 1000000};

	while (nanosleep(&time, &time) == -1 && errno == EINTR)
		;
}

pid_t must_fork(void)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0) {
		perror("fork");
		_exit(3);
	}
	return pid;
}

int in_child(void (*function)(void))
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		alarm(60);
		wrong = 0;
		function();
		_exit(0);
	}
	check(pid > 0, "fork", pid);
	check(waitpid(pid, &status, 0) == pid, "waitpid", pid);
	return status;
}

/* ---- descriptors, paths ---------------------------------------------------------------------- */

static void use_up_descriptors(void)
{
	int fd, last = -1, fds[2];

	while ((fd = open("/", O_RDONLY)) >= 0)
		last = fd;
	check(errno == EMFILE, "open at the limit", fd);
	check(dup(last) == -1 && errno == EMFILE, "dup at the limit", last);
	check(pipe(fds) == -1 && errno == EMFILE, "pipe at the limit", last);
	check(!close(last) && pipe(fds) == -1 && errno == EMFILE, "pipe with one number left", last);
	check(open("/", O_RDONLY) == last, "the number given back", last);
	_exit(wrong ? 1 : 0);
}

static void raise_and_use_up(void)
{
	struct rlimit limit = {4096, 4096};

	setrlimit(RLIMIT_NOFILE, &limit);
	for (int i = 0; i < 60; i++) {
		if (fork() == 0) {
			while (open("/dev/null", O_RDWR) >= 0)
				;
			_exit(errno == EMFILE || errno == ENFILE || errno == ENOMEM ? 0 : 1);
		}
	}
	for (int status; wait(&status) > 0;)
		check(WIFSIGNALED(status) || !WEXITSTATUS(status), "open until nothing is left", status);
	_exit(wrong ? 1 : 0);
}

static void test_descriptors(void)
{
	int status = in_child(use_up_descriptors);

	check(!status, "descriptors of one process", status);
	status = in_child(raise_and_use_up);
	check(!status, "descriptors of many", status);
}

static void test_paths(void)
{
	char *path = malloc(1 << 16);
	int depth = 0;

	memset(path, 'x', 1 << 16);
	path[0] = '/';
	path[65535] = 0;
	check(open(path, O_RDONLY) == -1 && errno == ENAMETOOLONG, "a path of 64 KB", 0);
	path[256] = 0;
	check(mkdir(path + 1, 0755) == 0 || errno == EEXIST, "a name of 255", 0);
	check(rmdir(path + 1) == 0, "its end", 0);
	for (int i = 0; i < 4094; i += 2)
		memcpy(path + i, "./", 2);
	path[4095] = 0;
	memcpy(path + 4094, ".", 1);
	check(access(path, F_OK) == 0, "a path of 4095", 0);
	for (int i = 0; i < 4090; i += 3)
		memcpy(path + i, "../", 3);
	path[4089] = 0;
	check(access(path, F_OK) == 0, "a thousand steps up", 0);
	while (depth < 600 && !mkdir("deep", 0755) && !chdir("deep"))
		depth++;
	check(depth == 600, "a deep tree", depth);
	check(!getcwd(path, 1 << 16) || strlen(path) > 3000, "where it ends", 0);
	while (depth-- > 0)
		check(!chdir("..") && !rmdir("deep"), "up again", depth);
	free(path);
}

/* ---- files that are no programs -------------------------------------------------------------- */

static char *image;
static size_t image_size;

static bool write_image(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	bool whole = fd >= 0 && write(fd, image, image_size) == (ssize_t)image_size;

	close(fd);
	return whole;
}

static void execute(void)
{
	char *argv[] = {"variant", "nothing", NULL};

	fclose(stdout);
	alarm(2);
	execv("variant", argv);
	_exit(errno == ENOEXEC || errno == EACCES || errno == ENOMEM || errno == EINVAL || errno == EIO ||
			      errno == ENOENT || errno == ELIBBAD || errno == EISDIR || errno == EPERM ||
			      errno == EFAULT || errno == EOVERFLOW
		      ? 100
		      : 101);
}

/* Change some bytes of the ELF header and the program headers; now and then the file's length. */
static void damage(const char *whole, size_t whole_size)
{
	static const uint64_t odd[] = {0, 1, 0x40, 0xfff, 0x1000, ~0ULL, 1ULL << 47, 1ULL << 63, 0x7fffffffffffffff,
				       0x7ffffffff000, 0xffffffff80000000, 0xffff, 0x10000, 56, 3, 5, 7};
	int changes = 1 + (int)(next_random() % 4);

	image_size = whole_size;
	memcpy(image, whole, whole_size);
	if (next_random() % 8 == 0)
		image_size = next_random() % (next_random() % 2 ? 512 : whole_size);
	while (changes-- > 0) {
		size_t at = next_random() % 512;
		uint64_t value = odd[next_random() % (sizeof(odd) / sizeof(odd[0]))];

		switch (next_random() % 3) {
		case 0:
			image[at] = (char)next_random();
			break;
		case 1:
			memcpy(image + (at & ~1ULL), &value, 2);
			break;
		case 2:
			memcpy(image + (at & ~7ULL), &value, 8);
			break;
		}
	}
}

static void test_elf(void)
{
	int fd = open("/proc/self/exe", O_RDONLY), refused = 0, ran = 0, killed = 0;
	char *whole = malloc(1 << 20);
	ssize_t size = read(fd, whole, 1 << 20);

	check(size > 4096, "reading ourselves", size);
	image = malloc(1 << 20);
	for (int i = 0; i < 400; i++) {
		int status;

		damage(whole, (size_t)size);
		unlink("variant");
		check(write_image("variant"), "writing a variant", i);
		status = in_child(execute);
		check(!WIFEXITED(status) || WEXITSTATUS(status) != 101, "errno of execve", i);
		refused += WIFEXITED(status) && WEXITSTATUS(status) == 100;
		killed += WIFSIGNALED(status);
		ran += WIFEXITED(status) && WEXITSTATUS(status) != 100;
	}
	printf("  400 variants: %d refused, %d killed, %d ran\n", refused, killed, ran);
	image_size = 0;
	check(write_image("variant") && WEXITSTATUS(in_child(execute)) == 100, "an empty file", 0);
	unlink("variant");
	free(image);
	free(whole);
	close(fd);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void unmap_everything(void)
{
	munmap(NULL, 0x7ffffffff000);
}

static void overflow_stack(void)
{
	volatile char piece[4096];

	piece[0] = 1;
	if (piece[0])
		overflow_stack();
	piece[1] = piece[0];
}

static void overflow_small_stack(void)
{
	struct rlimit limit = {1 << 16, 1 << 16};

	setrlimit(RLIMIT_STACK, &limit);
	overflow_stack();
}

static void fault_in_handler(int signo)
{
	(void)signo;
	*(volatile int *)8 = 1;
}

static void handler_faults(void)
{
	signal(SIGSEGV, fault_in_handler);
	*(volatile int *)8 = 1;
}

static void overflow_with_handler(void)
{
	signal(SIGSEGV, fault_in_handler); /* runs on the stack that is no more */
	overflow_stack();
}

static sigjmp_buf back;

static void go_back(int signo)
{
	siglongjmp(back, signo);
}

static void overflow_on_other_stack(void)
{
	stack_t other = {.ss_sp = malloc(65536), .ss_size = 65536};
	struct sigaction action = {.sa_handler = go_back, .sa_flags = SA_ONSTACK};

	sigaltstack(&other, NULL);
	sigaction(SIGSEGV, &action, NULL);
	for (volatile int i = 0; i < 3; i++) {
		if (!sigsetjmp(back, 1))
			overflow_stack();
	}
	_exit(7);
}

static void wild_other_stack(void)
{
	stack_t other = {.ss_sp = (void *)0xffff800000000000, .ss_size = 1 << 20};
	struct sigaction action = {.sa_handler = go_back, .sa_flags = SA_ONSTACK};

	sigaltstack(&other, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
}

static void map_wildly(void)
{
	for (int i = 0; i < 4000; i++) {
		uint64_t address = next_random() % 3 ? next_random() & 0x7fffffffffff : next_random();
		uint64_t length = next_random() >> (next_random() % 64);

		address &= ~4095ULL;
		if (address < 0x10000000 || address >> 40 == 0x7f || address >> 40 == 0x7e) /* not ourselves */
			continue;
		switch (next_random() % 5) {
		case 0:
			mmap((void *)address, length, (int)(next_random() % 8),
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (next_random() % 2 ? 0x100000 : 0), -1, 0);
			break;
		case 1:
			mprotect((void *)address, length, (int)(next_random() % 8));
			break;
		case 2:
			mremap((void *)address, 4096, length, (int)(next_random() % 4), next_random() & ~4095ULL);
			break;
		case 3: /* passes over holes, and may throw away what lies behind them: the stack */
			if (length < 1ULL << 40)
				madvise((void *)address, length, (int)(next_random() % 22));
			break;
		case 4:
			msync((void *)address, length, (int)(next_random() % 8));
			break;
		}
	}
	_exit(7);
}

static void test_memory(void)
{
	static const struct {
		const char *name;
		void (*function)(void);
		int signo, status;
	} parts[] = {
		{"unmap everything", unmap_everything, SIGSEGV, 0},
		{"stack overflow", overflow_stack, SIGSEGV, 0},
		{"overflow of a small stack", overflow_small_stack, SIGSEGV, 0},
		{"a handler that faults", handler_faults, SIGSEGV, 0},
		{"a handler without stack", overflow_with_handler, SIGSEGV, 0},
		{"a handler with its own stack", overflow_on_other_stack, 0, 7},
		{"a wild signal stack", wild_other_stack, SIGSEGV, 0},
		{"wild mappings", map_wildly, 0, 7},
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		int status = in_child(parts[i].function);

		if (parts[i].signo)
			check(WIFSIGNALED(status) && WTERMSIG(status) == parts[i].signo, parts[i].name, status);
		else
			check(WIFEXITED(status) && WEXITSTATUS(status) == parts[i].status, parts[i].name, status);
	}
}

static const struct part {
	const char *name;
	void (*function)(void);
} parts[] = {
	{"descriptors", test_descriptors}, {"paths", test_paths}, {"elf", test_elf}, {"memory", test_memory},
	{"sigreturn", test_sigreturn}, {"instructions", test_instructions}, {"storm", test_storm},
	{"stops", test_stops}, {"orphans", test_orphans}, {"groups", test_groups}, {"vfork", test_vfork},
	{"threads", test_threads}, {"kill", test_kill}, {"refused", test_refused}, {"hogs", test_hogs},
	{"calls", test_calls}, {"entries", test_entries}, {"deep", test_deep}, {"links", test_links},
	{"cuts", test_cuts}, {"moments", test_moments},
};

int main(int argc, char **argv)
{
	int all_wrong = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && !strcmp(argv[1], "exec-of-thread"))
		return exec_of_thread();
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (argc > 1 && strcmp(argv[1], parts[i].name))
			continue;
		if (argc > 2)
			state ^= strtoull(argv[2], NULL, 0) << 20;
		wrong = 0;
		parts[i].function();
		printf("%s: %s\n", parts[i].name, wrong ? "WRONG" : "ok");
		fflush(stdout);
		all_wrong += wrong;
	}
	return all_wrong != 0;
}
