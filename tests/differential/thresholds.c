/*
 * thresholds.c - scenarios at the exact border of a rule: one byte more or less, the second of two checks, what is left
 * over when a program, a thread or a lock's owner has gone.
 */
#include "scenarios.h"

#include <elf.h>
#include <stddef.h>

enum { FUTEX_WAIT, FUTEX_REQUEUE = 3 };
#define FUTEX_WAITERS 0x80000000u

/* ---- memory of files on a mount where nothing is executed ------------------------------------- */

static long map_file(int fd, int rights, int kind)
{
	void *at = mmap(NULL, 4096, rights, kind, fd, 0);

	return at == MAP_FAILED ? -1 : munmap(at, 4096);
}

/* Of a page of @fd that is readable at first: becomes it @rights? */
static long change_map(int fd, int rights, int kind)
{
	void *at = mmap(NULL, 4096, PROT_READ, kind, fd, 0);
	long result = at == MAP_FAILED ? -2 : mprotect(at, 4096, rights);
	int error = errno;

	munmap(at, 4096);
	errno = error;
	return result;
}

SCENARIO(maps_on_noexec)
{
	int fd, other;

	make_directory("m");
	make_directory("b");
	T(mount("none", "m", "tmpfs", MS_NOEXEC, NULL));
	make_file("m/f", "text");
	make_file("outside", "text");
	T(mount(".", "b", NULL, MS_BIND, NULL));
	T(mount(NULL, "b", NULL, MS_REMOUNT | MS_BIND | MS_NOEXEC, NULL));
	fd = open("m/f", O_RDWR);
	other = open("b/outside", O_RDONLY);
	T(map_file(fd, PROT_READ, MAP_PRIVATE));
	T(map_file(fd, PROT_READ | PROT_EXEC, MAP_PRIVATE));
	T(map_file(fd, PROT_READ | PROT_EXEC, MAP_SHARED));
	T(change_map(fd, PROT_READ | PROT_EXEC, MAP_PRIVATE));
	T(change_map(fd, PROT_EXEC, MAP_SHARED));
	T(change_map(fd, PROT_READ | PROT_WRITE, MAP_SHARED));
	T(map_file(other, PROT_READ | PROT_EXEC, MAP_PRIVATE));
	T(change_map(other, PROT_READ | PROT_EXEC, MAP_PRIVATE));
	T(change_map(other, PROT_READ | PROT_WRITE, MAP_PRIVATE));
	T(change_map(other, PROT_READ | PROT_WRITE, MAP_SHARED));
	close(other);
	other = open("outside", O_RDONLY);
	T(map_file(other, PROT_READ | PROT_EXEC, MAP_PRIVATE));
	T(change_map(other, PROT_READ | PROT_EXEC, MAP_PRIVATE));
	T(change_map(other, PROT_READ | PROT_WRITE, MAP_SHARED));
	close(fd);
	close(other);
	T(umount("b"));
	T(umount("m"));
}

/* ---- pipes ------------------------------------------------------------------------------------ */

static char bytes[65536 + 4096];

static void writable(int fd)
{
	struct pollfd one = {.fd = fd, .events = POLLOUT | POLLIN};

	poll(&one, 1, 0);
	say("poll:%x", one.revents);
}

SCENARIO(pipe_with_room_for_exactly_that)
{
	int ends[2];

	T(pipe2(ends, O_NONBLOCK));
	T(write(ends[1], bytes, 65536 - 4096));
	writable(ends[1]);
	T(write(ends[1], bytes, 4096));
	writable(ends[1]);
	T(write(ends[1], bytes, 1));
	T(read(ends[0], bytes, 4095));
	writable(ends[1]);
	T(write(ends[1], bytes, 4096));
	T(read(ends[0], bytes, 1));
	writable(ends[1]);
	T(write(ends[1], bytes, 4096));
	T(write(ends[1], bytes, 4096));
	T(read(ends[0], bytes, sizeof(bytes)));
	T(read(ends[0], bytes, 1));
	T(write(ends[1], bytes, sizeof(bytes)));
	writable(ends[0]);
	close(ends[1]);
	writable(ends[0]);
	T(read(ends[0], bytes, sizeof(bytes)));
	T(read(ends[0], bytes, 1));
	writable(ends[0]);
}

/* ---- copying ---------------------------------------------------------------------------------- */

static long copy(int fd, long from, long to, size_t count)
{
	return syscall(SYS_copy_file_range, fd, &from, fd, &to, count, 0);
}

SCENARIO(copy_of_neighbours)
{
	int fd;

	make_file("f", "abcdefgh");
	fd = open("f", O_RDWR);
	T(copy(fd, 0, 4, 4));
	slurp("f");
	T(pwrite(fd, "abcdefgh", 8, 0));
	T(copy(fd, 4, 0, 4));
	slurp("f");
	T(pwrite(fd, "abcdefgh", 8, 0));
	T(copy(fd, 0, 3, 4));
	T(copy(fd, 3, 0, 4));
	T(copy(fd, 2, 2, 1));
	T(copy(fd, 0, 4, 5));
	T(copy(fd, 7, 8, 9));
	T(copy(fd, 9, 0, 9));
	T(copy(fd, 8, 8, 0));
	slurp("f");
}

/* ---- robust locks ----------------------------------------------------------------------------- */

struct lock {
	void *link;
	unsigned word, others;
};

/* In a child that holds @locks and ends: the list is its own, the locks are shared. */
static void hold_and_end(struct lock *locks, int count, struct lock *pending)
{
	static struct {
		void *next;
		long offset;
		void *pending;
	} head;

	head.next = &head;
	head.offset = offsetof(struct lock, word);
	head.pending = pending ? &pending->link : NULL;
	for (int i = count; i--;) {
		locks[i].link = head.next;
		head.next = &locks[i].link;
	}
	syscall(SYS_set_robust_list, &head, sizeof(head));
	_exit(0);
}

SCENARIO(robust_words_of_a_dead_owner)
{
	struct lock *locks = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned *stays = &locks[3].others; /* the waiter's proof */
	int status;
	pid_t waiter, owner;

	owner = fork();
	if (!owner) {
		unsigned me = (unsigned)getpid();

		locks[0].word = me;
		locks[1].word = me | FUTEX_WAITERS;
		locks[2].word = me + 1;
		locks[3].word = me | FUTEX_WAITERS;
		waiter = fork();
		if (!waiter) {
			*stays = 1 + !syscall(SYS_futex, &locks[3].word, FUTEX_WAIT, me | FUTEX_WAITERS, NULL, NULL, 0);
			_exit(0);
		}
		/* until it waits: requeueing from here to here only counts */
		while (syscall(SYS_futex, &locks[3].word, FUTEX_REQUEUE, 0, 1, &locks[3].word, 0) != 1)
			;
		hold_and_end(locks, 3, &locks[3]);
	}
	T(waitpid(owner, &status, 0) == owner);
	while (!__atomic_load_n(stays, __ATOMIC_ACQUIRE))
		usleep(1000);
	say("%u", *stays);
	say("%x %x", locks[0].word, locks[1].word);
	say("%d", locks[2].word == (unsigned)owner + 1);
	say("%x", locks[3].word);
	/* one that was free already when its owner ended in the middle of freeing it */
	memset(locks, 0, sizeof(*locks) * 4);
	owner = fork();
	if (!owner) {
		waiter = fork();
		if (!waiter) {
			*stays = 1 + !syscall(SYS_futex, &locks[2].word, FUTEX_WAIT, 0, NULL, NULL, 0);
			_exit(0);
		}
		while (syscall(SYS_futex, &locks[2].word, FUTEX_REQUEUE, 0, 1, &locks[2].word, 0) != 1)
			;
		hold_and_end(locks, 0, &locks[2]);
	}
	T(waitpid(owner, &status, 0) == owner);
	while (!__atomic_load_n(stays, __ATOMIC_ACQUIRE))
		usleep(1000);
	say("%u %x", *stays, locks[2].word);
}

/* ---- what a new program does not inherit ------------------------------------------------------ */

/* A program without a library: maps descriptor 20 at 0x10000000, shared; makes a process that shares
 * its memory and waits for the end of descriptor 21; ends. */
extern const char tiny_code[], tiny_end[];
__asm__(".pushsection .rodata\n"
	"tiny_code:\n"
	"	mov $9, %eax\n	mov $0x10000000, %edi\n	mov $4096, %esi\n	mov $3, %edx\n"
	"	mov $0x11, %r10d\n	mov $20, %r8d\n	xor %r9d, %r9d\n	syscall\n" /* mmap */
	"	mov $56, %eax\n	mov $0x111, %edi\n	lea -256(%rsp), %rsi\n	xor %edx, %edx\n"
	"	xor %r10d, %r10d\n	xor %r8d, %r8d\n	syscall\n" /* clone: CLONE_VM, SIGCHLD */
	"	test %eax, %eax\n	jnz 1f\n"
	"	mov $21, %edi\n	mov %rsp, %rsi\n	mov $1, %edx\n	syscall\n" /* read */
	"1:	mov $60, %eax\n	xor %edi, %edi\n	syscall\n" /* exit */
	"tiny_end:\n"
	".popsection\n");

static void make_tiny_program(const char *name)
{
	const unsigned long base = 0x400000;
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
		char code[256];
	} image = {
		.header = {
			.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			.e_type = ET_EXEC, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
			.e_entry = base + offsetof(typeof(image), code), .e_phoff = sizeof(Elf64_Ehdr),
			.e_ehsize = sizeof(Elf64_Ehdr), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1,
		},
		.segment = {
			.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = base, .p_paddr = base,
			.p_filesz = sizeof(image), .p_memsz = sizeof(image), .p_align = 4096,
		},
	};
	int fd = open(name, O_CREAT | O_WRONLY, 0755);

	memcpy(image.code, tiny_code, (size_t)(tiny_end - tiny_code));
	write(fd, &image, sizeof(image));
	close(fd);
}

SCENARIO(exec_forgets_where_to_tell_of_the_threads_end)
{
	int ends[2], fd, status;
	pid_t child;

	make_tiny_program("tiny");
	make_file("f", "stays");
	fd = open("f", O_RDWR);
	pipe(ends);
	child = fork();
	if (!child) {
		dup2(fd, 20);
		dup2(ends[0], 21);
		close(ends[1]);
		syscall(SYS_set_tid_address, 0x10000000L);
		execl("tiny", "tiny", NULL);
		_exit(1);
	}
	T(waitpid(child, &status, 0) == child);
	say("%x", status);
	slurp("f");
	close(ends[1]);
}
