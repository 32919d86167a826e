/*
 * calls.c - many calls in no order that anybody would write, by several processes in one
 * folder: their arguments make sense often enough that most calls get far. What they return is not
 * judged; the kernel's own checks, and e2fsck afterwards, are.
 */
#include "hostile.h"

#include <sys/mount.h>
#include <sys/uio.h>

/* Arguments: f descriptor, n name, b buffer, s size, o offset, F open's flags, m mode, v vector, i
 * small number, a address in a mapping, p protection, d a directory's descriptor, z zero. */
static const struct {
	int number;
	const char *arguments;
} calls[] = {
	{SYS_read, "fbs"},	  {SYS_write, "fbs"},	    {SYS_open, "nFm"},
	{SYS_open, "nFm"},	  {SYS_close, "f"},	    {SYS_stat, "nb"},
	{SYS_lstat, "nb"},	  {SYS_fstat, "fb"},	    {SYS_lseek, "foi"},
	{SYS_pread64, "fbso"},	  {SYS_pwrite64, "fbso"},   {SYS_readv, "fvi"},
	{SYS_writev, "fvi"},	  {SYS_access, "ni"},	    {SYS_pipe, "b"},
	{SYS_dup, "f"},		  {SYS_dup2, "ff"},	    {SYS_rename, "nn"},
	{SYS_rename, "nn"},	  {SYS_mkdir, "nm"},	    {SYS_mkdir, "nm"},
	{SYS_rmdir, "n"},	  {SYS_creat, "nm"},	    {SYS_link, "nn"},
	{SYS_unlink, "n"},	  {SYS_unlink, "n"},	    {SYS_symlink, "nn"},
	{SYS_readlink, "nbs"},	  {SYS_chmod, "nm"},	    {SYS_fchmod, "fm"},
	{SYS_truncate, "no"},	  {SYS_ftruncate, "fo"},    {SYS_getdents64, "fbs"},
	{SYS_getcwd, "bs"},	  {SYS_fsync, "f"},	    {SYS_fdatasync, "f"},
	{SYS_statfs, "nb"},	  {SYS_fallocate, "fzoo"},  {SYS_sendfile, "ffzs"},
	{SYS_fcntl, "fii"},	  {SYS_utimensat, "dnzz"},  {SYS_mmap, "asphfo"},
	{SYS_mmap, "zspgfo"},	  {SYS_munmap, "as"},	    {SYS_mprotect, "asp"},
	{SYS_msync, "asi"},	  {SYS_madvise, "asi"},	    {SYS_mremap, "assi"},
	{SYS_renameat2, "dndni"}, {SYS_linkat, "dndni"},    {SYS_mknod, "nmz"},
	{SYS_flock, "fi"},	  {SYS_poll, "bii"},	    {SYS_chown, "nii"},
	{SYS_fadvise64, "fooi"},  {SYS_statx, "dnzib"},	    {SYS_umask, "m"},
	{SYS_sync, ""},		  {SYS_faccessat, "dni"},   {SYS_unlinkat, "dni"},
	{SYS_newfstatat, "dnbi"}, {SYS_readlinkat, "dnbs"}, {SYS_getrandom, "bsi"},
	{SYS_sched_yield, ""},	  {SYS_chdir, "n"},	    {SYS_chdir, "k"},
	{SYS_mincore, "asb"},
};

static char *buffer, *region;
#define BUFFER_SIZE (1 << 16)
#define REGION_SIZE (1 << 20)

static const char *random_name(void)
{
	static const char *const names[] = {"a",
					    "b",
					    "c",
					    "d",
					    "a/a",
					    "a/b",
					    "b/a",
					    "b/../c",
					    "a/a/a",
					    "./d",
					    "l/a",
					    "a/../b/./a",
					    "l",
					    "m",
					    "/tmp/x",
					    "e/",
					    "a-rather-long-name-that-is-not-inline-in-a-dentry",
					    "..",
					    ".",
					    ""};

	return names[next_random() % (sizeof(names) / sizeof(names[0]))];
}

static long random_argument(char kind)
{
	static const int flags[] = {O_RDONLY,
				    O_RDWR,
				    O_RDWR | O_CREAT,
				    O_RDWR | O_CREAT | O_TRUNC,
				    O_RDWR | O_CREAT | O_EXCL,
				    O_WRONLY | O_APPEND | O_CREAT,
				    O_RDONLY | O_DIRECTORY,
				    O_RDONLY | O_NOFOLLOW,
				    O_PATH,
				    O_RDWR | O_NONBLOCK,
				    O_RDWR | O_SYNC | O_CREAT};
	static const long offsets[] = {0,	   1,	    511,      512,	 1023,	    1024,
				       4095,	   4096,    4097,     12 * 1024, 12 * 4096, 65536,
				       268 * 1024, 1 << 20, 70000000, 1L << 32};
	uint64_t random = next_random();

	switch (kind) {
	case 'f': /* not the standard ones: those are the test's own */
		return 3 + (long)(random % 20);
	case 'n':
		return (long)random_name();
	case 'k':
		return (long)"/root/calls";
	case 'b':
		return (long)(buffer + random % 4096);
	case 'a':
		return (long)(region + random % REGION_SIZE / 4096 * 4096);
	case 's':
		return (long)(random % 3 ? random % 9000 : random % (BUFFER_SIZE / 2));
	case 'o':
		return random % 3 ? offsets[random / 8 % (sizeof(offsets) / sizeof(offsets[0]))]
				  : (long)(random % 100000);
	case 'F':
		return flags[random % (sizeof(flags) / sizeof(flags[0]))] |
		       (random & 0x1000 ? O_CLOEXEC : 0);
	case 'm':
		return (long)(random % 4 ? 0700 | random % 512 : S_IFIFO | 0600);
	case 'v':
		return (long)buffer; /* whatever is there */
	case 'p':
		return (long)(random % 4);
	case 'h':
		return MAP_FIXED | (random % 2 ? MAP_SHARED : MAP_PRIVATE);
	case 'g':
		return random % 2 ? MAP_SHARED : MAP_PRIVATE;
	case 'd':
		return random % 4 ? AT_FDCWD : 3 + (long)(random % 20);
	case 'i':
		return (long)(random % 8);
	}
	return 0;
}

static void call_at_random(void)
{
	unsigned which = (unsigned)(next_random() % (sizeof(calls) / sizeof(calls[0])));
	const char *kind = calls[which].arguments;
	long a[6] = {0};

	if (calls[which].number == SYS_sync && next_random() % 50)
		return;
	if (*kind == 'f' && kind[1] == 'v') {
		struct iovec *vector = (struct iovec *)buffer;

		for (int i = 0; i < 8; i++)
			vector[i] = (struct iovec){buffer + 8192, next_random() % 5000};
	}
	for (int i = 0; kind[i]; i++)
		a[i] = random_argument(kind[i]);
	syscall(calls[which].number, a[0], a[1], a[2], a[3], a[4], a[5]);
	/* Touch what is mapped; that it may be gone again is what the handler is for. */
	if (next_random() % 8 == 0)
		region[next_random() % REGION_SIZE] = 1;
}

static sigjmp_buf resume;

static void go_on(int signo)
{
	siglongjmp(resume, signo);
}

static void call_for_long(int seed, int count)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGALRM};
	struct sigaction action = {.sa_handler = go_on};
	const char *limit = getenv("LIMIT");
	struct rlimit size = {limit ? strtoul(limit, NULL, 0) : 80000000, RLIM_INFINITY};
	volatile int left = count;

	for (int i = 0; i < seed * 17 + 3; i++)
		next_random();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &size);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
	buffer = mmap(NULL, 4 * BUFFER_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	region =
		mmap(NULL, REGION_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sigsetjmp(resume, 1) &&
	    left % 10 == 0) /* what is not writable any more is made so again */
		mmap(region, REGION_SIZE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	ualarm(20000, 20000); /* ends what blocks */
	while (left-- > 0) {
		if (left % 512 == 0 && fork() == 0)
			_exit(0);
		call_at_random();
	}
	_exit(0);
}

void test_calls(void)
{
	char *rounds = getenv("ROUNDS");
	int count = rounds ? atoi(rounds) : 20000, status;

	check(!mkdir("/root/calls", 0755) || errno == EEXIST, "a folder", 0);
	check(!chdir("/root/calls"), "going there", 0);
	signal(SIGCHLD, SIG_DFL);
	fflush(stdout);
	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (!pid) {
			fclose(stdout);
			call_for_long(i, count);
		}
		check(pid > 0, "fork", i);
	}
	for (int i = 0; i < 3; i++) {
		check(wait(&status) > 0, "wait", i);
		check(WIFEXITED(status) && !WEXITSTATUS(status), "a process of random calls",
		      status);
	}
	check(!chdir("/root"), "leaving", 0);
}
