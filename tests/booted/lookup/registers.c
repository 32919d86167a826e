/*
 * registers.c - do a program's vector registers stay what they are while paths are looked up? All
 * of them are loaded, a path is asked for, and they are stored, in one piece of assembly, again and
 * again: at first the path is walked, then found. "kept" or what has changed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define REGISTERS 16
#define BYTES 32 /* of one */

static unsigned char before[REGISTERS][BYTES], after[REGISTERS][BYTES];

#define ALL ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n\t"
#define CHANGED                                                                                    \
	"rcx", "r11", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",    \
		"xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"

static long ask_with_128_bits(const char *path, struct stat *st)
{
	register long flags __asm__("r10") = 0;
	long result = SYS_newfstatat;

	__asm__ volatile(ALL "movups \\n*32(%[before]), %%xmm\\n\n\t.endr\n\t"
			     "syscall\n\t" ALL "movups %%xmm\\n, \\n*32(%[after])\n\t.endr"
			 : "+a"(result)
			 : "D"((long)AT_FDCWD), "S"(path), "d"(st),
			   "r"(flags), [before] "r"(before), [after] "r"(after)
			 : CHANGED);
	return result;
}

static long ask_with_256_bits(const char *path, struct stat *st)
{
	register long flags __asm__("r10") = 0;
	long result = SYS_newfstatat;

	__asm__ volatile(ALL "vmovups \\n*32(%[before]), %%ymm\\n\n\t.endr\n\t"
			     "syscall\n\t" ALL "vmovups %%ymm\\n, \\n*32(%[after])\n\t.endr\n\t"
			     "vzeroupper"
			 : "+a"(result)
			 : "D"((long)AT_FDCWD), "S"(path), "d"(st),
			   "r"(flags), [before] "r"(before), [after] "r"(after)
			 : CHANGED);
	return result;
}

int main(int argc, char **argv)
{
	int has_avx = __builtin_cpu_supports("avx"), used = has_avx ? BYTES : BYTES / 2;
	struct stat st;

	(void)argc;
	for (int i = 0; i < REGISTERS; i++)
		for (int j = 0; j < BYTES; j++)
			before[i][j] = (unsigned char)(37 * i + 11 * j + 1);
	for (int round = 0; round < 40; round++) {
		memset(after, 0, sizeof(after));
		if (has_avx ? ask_with_256_bits(argv[1], &st) : ask_with_128_bits(argv[1], &st)) {
			puts("not found");
			return 1;
		}
		for (int i = 0; i < REGISTERS; i++) {
			if (!memcmp(before[i], after[i], (size_t)used))
				continue;
			printf("register %d has changed in round %d\n", i, round);
			return 1;
		}
	}
	printf("kept, %d bits\n", used * 8);
	return 0;
}
