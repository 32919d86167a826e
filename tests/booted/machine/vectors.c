/*
 * vectors.c - vector registers are each thread's own: across switches, signals and forks, and in a
 * signal's frame as Linux lays it out. Prints "ok NAME" for each; the same on Linux.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define WORKERS 4
#define ROUNDS 300
#define REGISTERS 4
#define BYTES 32

static int has_avx;
static volatile sig_atomic_t signals;

static int detect_avx(void)
{
	uint32_t a = 1, b, c = 0, d, low, high;

	__asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	if ((c & (3u << 27)) != 3u << 27)
		return 0;
	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return (low & 6) == 6;
}

/* Load the registers, make system call @number, spin, store them: nothing between may change them. */
#define THROUGH(move, size, number)                                                                \
	__asm__ __volatile__(move " (%[in]), %%" size "mm0\n\t" move " 32(%[in]), %%" size         \
				  "mm5\n\t" move " 64(%[in]), %%" size "mm9\n\t" move              \
				  " 96(%[in]), %%" size "mm15\n\t"                                 \
				  "syscall\n\t"                                                    \
				  "movl $20000, %%ecx\n\t"                                         \
				  "1: decl %%ecx\n\t"                                              \
				  "jnz 1b\n\t" move " %%" size "mm0, (%[out])\n\t" move " %%" size \
				  "mm5, 32(%[out])\n\t" move " %%" size "mm9, 64(%[out])\n\t" move \
				  " %%" size "mm15, 96(%[out])\n\t"                                \
			     : "=a"(result)                                                        \
			     : "a"(number), "D"(first), "S"(second), [in] "r"(in), [out] "r"(out)  \
			     : "rcx", "r11", "memory", "xmm0", "xmm5", "xmm9", "xmm15")

static long through(const uint8_t *in, uint8_t *out, long number, long first, long second)
{
	long result;

	if (has_avx)
		THROUGH("vmovdqu", "y", number);
	else
		THROUGH("movdqu", "x", number);
	return result;
}

static int kept(const uint8_t *in, const uint8_t *out)
{
	for (int i = 0; i < REGISTERS; i++)
		if (memcmp(in + i * BYTES, out + i * BYTES, has_avx ? 32 : 16))
			return 0;
	return 1;
}

static void *work(void *argument)
{
	uint8_t in[REGISTERS * BYTES], out[REGISTERS * BYTES];
	long lost = 0;

	for (int round = 0; round < ROUNDS; round++) {
		memset(in, (int)((long)argument * 50 + round), sizeof(in));
		through(in, out, SYS_sched_yield, 0, 0);
		lost += !kept(in, out);
	}
	return (void *)lost;
}

static void clobber(int signo)
{
	uint8_t in[REGISTERS * BYTES], out[REGISTERS * BYTES];

	memset(in, 0xee, sizeof(in));
	through(in, out, SYS_getpid, 0, 0);
	signals += signo == SIGALRM;
}

static int workers(void)
{
	struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
	pthread_t threads[WORKERS];
	long lost = 0;
	void *result;

	signal(SIGALRM, clobber);
	setitimer(ITIMER_REAL, &often, NULL);
	for (long i = 0; i < WORKERS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < WORKERS; i++) {
		pthread_join(threads[i], &result);
		lost += (long)result;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	return !lost && signals > 0;
}

/* The child's registers begin as its parent's. */
static int forked(void)
{
	uint8_t in[REGISTERS * BYTES], out[REGISTERS * BYTES];
	int status;
	long pid;

	memset(in, 0x5a, sizeof(in));
	pid = through(in, out, SYS_fork, 0, 0);
	if (pid == 0)
		_exit(!kept(in, out));
	return waitpid((pid_t)pid, &status, 0) == pid && status == 0 && kept(in, out);
}

static int frame_good;

/* Linux's arch/x86/include/uapi/asm/sigcontext.h: what the frame says of its image. */
static void change_frame(int signo, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	uint8_t *image = (uint8_t *)uc->uc_mcontext.fpregs;
	uint32_t magic1, extended, size, magic2 = 0;
	uint64_t features, present;

	(void)signo, (void)info;
	memcpy(&magic1, image + 464, 4);
	memcpy(&extended, image + 468, 4);
	memcpy(&features, image + 472, 8);
	memcpy(&size, image + 480, 4);
	memcpy(&present, image + 512, 8);
	if (magic1 == 0x46505853 && extended == size + 4)
		memcpy(&magic2, image + size, 4);
	frame_good = !has_avx || (magic2 == 0x46505845 && (features & 7) == 7 && (present & 2) &&
				  !((uintptr_t)image & 63));
	frame_good &= image[160 + 9 * 16] == 0x77; /* xmm9 */
	memset(image + 160 + 9 * 16, 0x33, 16);
}

static int frame(void)
{
	uint8_t in[REGISTERS * BYTES], out[REGISTERS * BYTES];
	struct sigaction action = {.sa_sigaction = change_frame, .sa_flags = SA_SIGINFO};

	sigaction(SIGUSR1, &action, NULL);
	memset(in, 0x77, sizeof(in));
	through(in, out, SYS_kill, getpid(), SIGUSR1);
	if (!frame_good || out[2 * BYTES] != 0x33 || out[2 * BYTES + 15] != 0x33)
		return 0;
	memset(out + 2 * BYTES, 0x77, 16); /* the rest as it was, the upper halves too */
	return kept(in, out);
}

static void tell(const char *name, int good)
{
	printf("%s %s\n", good ? "ok" : "not ok", name);
}

int main(void)
{
	has_avx = detect_avx();
	tell("forked", forked());
	tell("frame", frame());
	tell("workers", workers());
	return 0;
}
