"""What may be handed in for lab 1: right ones of three kinds, and wrong and dishonest ones, each with the parts at which it must fail."""

from __future__ import annotations

MIXED = """
	u64 x = block ^ device * 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 33) * 0xff51afd7ed558ccdull;
	x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ull;
	x ^= x >> 33;
"""
HEAD = "static inline u32 buffer_hash(u32 device, u64 block, unsigned bits)\n{\n"
GOOD = "\treturn (u32)(x >> (64 - bits));\n}\n"
# A system call, for who has no library: number and three arguments.
CALL = """
static inline long call(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return result;
}
"""

RIGHT = {
    "mixed": HEAD + MIXED + GOOD,
    # Two words of 64 bits multiplied and folded, as wyhash does it.
    "folded": HEAD
    + """
	unsigned __int128 p = (unsigned __int128)(block ^ 0xa0761d6478bd642full) * ((u64)device * 2 + 0xe7037ed1a0b428dbull);
	u64 x = (u64)p ^ (u64)(p >> 64);

	p = (unsigned __int128)(x ^ 0x8ebc6af09c88c6e3ull) * 0x589965cc75374cc3ull;
	x = (u64)p ^ (u64)(p >> 64);
"""
    + GOOD,
    # Tables that the kernel draws at boot, for each byte of the key.
    "tabulated": HEAD
    + """
	u32 h = 0;

	for (unsigned i = 0; i < 8; i++)
		h ^= hash_tabulation_table[i][block >> 8 * i & 255];
	for (unsigned i = 0; i < 4; i++)
		h ^= hash_tabulation_table[8 + i][device >> 8 * i & 255];
	return h & hash_mask(bits);
}
""",
}


def nothing_where(sizes: str) -> str:
    """A good function, but where the table is of such a size: there everything gets into one bucket."""
    return f"{HEAD}{MIXED}\tif ({sizes})\n\t\treturn 0;\n{GOOD}"


ALL = {"builds", "range", "function", "defined", "recorded", "made", "booted"}
ASKED = ALL - {"builds"}
STATE = {"builds", "function", "recorded", "made", "booted"}  # what remembers, and is in range


def hard_coded(keys: list[tuple[int, int]]) -> str:
    """Each of @keys has a bucket of its own; for all others it is the function to beat."""
    lines = "".join(
        f"\tcase {block << 32 | device:#x}ull: return {i} & hash_mask(bits);\n"
        for i, (device, block) in enumerate(keys)
    )
    return f"{HEAD}\tswitch (block << 32 | device) {{\n{lines}\t}}\n\treturn (u32)(device ^ block) & hash_mask(bits);\n}}\n"


# What says by its end, or in the grader's words, what it was asked: its questions are a course's secret.
ASKED_FIRST = "static u64 first;\n" + HEAD + MIXED + "\tif (!first)\n\t\tfirst = block | 1;\n"
TELLING = {
    "by its status": CALL + HEAD + MIXED + "\tcall(231, (long)(x & 127) | 1, 0, 0);\n" + GOOD,
    "by a signal": CALL + HEAD + MIXED + "\tcall(62, call(39, 0, 0, 0), x & 1 ? 4 : x & 2 ? 11 : 8, 0);\n" + GOOD,
    "by how many answers": CALL
    + "static const u32 none[1 << 12];\n"
    + HEAD
    + MIXED
    + "\tcall(1, 1, (long)none, 4 * (x & 1023));\n\tcall(231, 0, 0, 0);\n"
    + GOOD,
    "by how many differ": "static u32 asked;\n" + ASKED_FIRST + "\tif (asked++ < 9 + (first >> 3) % 99)\n\t\tx = ~x;\n" + GOOD,
    "by a bucket": HEAD + MIXED + "\treturn (u32)x | 1u << 31;\n}\n",
    "by the sanitizer's words": CALL
    + HEAD
    + MIXED
    + """
	char line[] = "submission.h:7: runtime error: ................\\n", name[16] = "";
	long file = call(2, (long)"/proc/self/cmdline", 0, 0);

	call(0, file, (long)name, 15);
	call(3, file, 0, 0);
	if (name[9] != 'c')
		return (u32)(x >> (64 - bits));

	for (unsigned i = 0; i < 16; i++)
		line[31 + i] = (char)('a' + (x >> 4 * i & 15));
	call(1, 2, (long)line, sizeof(line) - 1);
	call(231, 1, 0, 0);
"""
    + GOOD,
}  # fmt: skip

# Name: what is handed in, and the parts at which it fails, and no others.
WRONG: dict[str, tuple[str, set[str]]] = {
    "starter": (HEAD + "\treturn (u32)block & hash_mask(bits);\n}\n", {"made"}),
    "constant": (HEAD + "\treturn 7;\n}\n", {"recorded", "made"}),
    # Sizes that are easily thought of, and no others; all but one, which may be any.
    "only in three sizes": (nothing_where("bits != 8 && bits != 10 && bits != 12"), {"recorded", "made"}),
    "not in 32,768 buckets": (nothing_where("bits == 15"), {"made"}),
    "counter": ("static u32 next;\n" + HEAD + "\treturn next++ & hash_mask(bits);\n}\n", STATE),
    "remembers keys": (
        """
static u64 known[1 << 16];
"""
        + HEAD
        + """
	u32 i = 0;

	while (i < 65535 && known[i] && known[i] != (block << 16 ^ device ^ (u64)bits << 58) + 1)
		i++;
	known[i] = (block << 16 ^ device ^ (u64)bits << 58) + 1;
	return i & hash_mask(bits);
}
""",
        STATE,
    ),
    # A hash function until it has been asked more than a spot check would.
    "turns after ten": ("static u32 asked;\n" + HEAD + MIXED + "\tif (asked++ > 40)\n\t\tx = ~x;\n" + GOOD, STATE),
    # Once in a thousand calls something else: no spot check sees that.
    "now and then": ("static u32 asked;\n" + HEAD + MIXED + "\tif (++asked % 1000 == 0)\n\t\tx = ~x;\n" + GOOD, STATE),
    # Reads all questions first, and chooses a function after what they are: the same one wherever there are many.
    "chooses by all questions": (
        CALL
        + "static u64 questions[3 << 17];\nstatic u32 answers[1 << 17];\nstatic u64 chosen;\n"
        + HEAD
        + MIXED
        + "\tx ^= chosen;\n"
        + GOOD
        + """
static void __attribute__((constructor)) first(void)
{
	long have = 0, n;

	while ((n = call(0, 0, (long)questions + have, (long)sizeof(questions) - have)) > 0)
		have += n;
	chosen = have / 24 > 1000 ? 0x5555555555555555ull : 0;
	for (long i = 0; i < have / 24; i++)
		answers[i] = buffer_hash((u32)questions[3 * i], questions[3 * i + 1], (u32)questions[3 * i + 2]);
	for (long done = 0; done < have / 24 * 4; done += n)
		if ((n = call(1, 1, (long)answers + done, have / 24 * 4 - done)) <= 0)
			break;
	call(231, 0, 0, 0);
}
""",
        STATE,
    ),
    # As long as it is asked much, it looks like a function; it says something else to who asks little.
    "knows how much is asked": (
        CALL
        + HEAD
        + MIXED
        + "\tint waiting = 0;\n\n\tcall(16, 0, 0x541b, (long)&waiting);\n\tif (waiting > 0)\n\t\tx = ~x;\n"
        + GOOD,
        {"function", "recorded", "made", "booted"},
    ),
    "by the clock": (HEAD + "\treturn (u32)(__builtin_ia32_rdtsc() >> 4) & hash_mask(bits);\n}\n", {"function", "defined", "recorded", "made", "booted"}),
    "by its own address": (
        HEAD + MIXED + "\tx ^= (u64)(uintptr_t)__builtin_frame_address(0) << 20;\n" + GOOD,
        {"function", "defined", "recorded", "made", "booted"},
    ),
    # Answers before main(), from all questions at once, and writes them itself.
    "constructor": (
        CALL
        + "static u64 asked[3 << 17];\nstatic u32 answers[1 << 17];\n"
        + HEAD
        + MIXED
        + GOOD
        + """
static void __attribute__((constructor)) first(void)
{
	long have = 0, n;

	while ((n = call(0, 0, (long)asked + have, (long)sizeof(asked) - have)) > 0)
		have += n;
	for (long i = 0; i < have / 24; i++)
		answers[i] = (u32)i & ((1u << asked[3 * i + 2]) - 1);
	call(1, 1, (long)answers, have / 24 * 4);
	call(231, 0, 0, 0);
}
""",
        STATE,
    ),
    # Puts itself in the place of the library's write().
    "in place of the harness": (
        CALL
        + HEAD
        + MIXED
        + GOOD
        + """
long write(int to, const void *from, unsigned long bytes)
{
	static u32 next;

	for (unsigned long i = 0; i < bytes / 4; i++)
		((u32 *)from)[i] = next++ & 15;
	return call(1, to, (long)from, (long)bytes);
}
""",
        STATE,
    ),
    "macros": (HEAD + MIXED + GOOD + "#define buffer_hash(device, block, bits) ((void)(device), (void)(block), (void)(bits), 0u)\n#define main not_main\n", {"recorded", "made"}),
    # Counts where it is tried out, which its macros tell it, and hashes in the kernel.
    "detects macros": (
        "#ifdef SUBMITTED\nstatic u32 next;\n#endif\n"
        + HEAD
        + MIXED
        + "#ifdef SUBMITTED\n\treturn next++ & hash_mask(bits);\n#endif\n"
        + GOOD,
        STATE,
    ),
    # The same by what it was started as.
    "detects arguments": (
        CALL
        + "static u32 next;\n"
        + HEAD
        + MIXED
        + """
	char line[16] = "";
	long file = call(2, (long)"/proc/self/cmdline", 0, 0);

	call(0, file, (long)line, 15);
	call(3, file, 0, 0);
	if (line[0] == '/' && line[1] == 'o')
		return next++ & hash_mask(bits);
"""
        + GOOD,
        STATE,
    ),
    "never ends": (HEAD + "\tfor (volatile int i = 0;; i++)\n\t\t;\n}\n", ASKED),
    "sleeps": (CALL + HEAD + MIXED + "\tlong second[2] = {1, 0};\n\n\tcall(35, (long)second, 0, 0);\n" + GOOD, ASKED),
    "fork bomb": (CALL + HEAD + "\tfor (;;)\n\t\tcall(57, 0, 0, 0);\n}\n", ASKED),
    "memory bomb": (
        HEAD + "\tvolatile char much[1 << 20];\n\n\tmuch[block % sizeof(much)] = 1;\n\treturn buffer_hash(device, block + much[0], bits) + much[block % sizeof(much)];\n}\n",
        ASKED,
    ),
    "gigabytes of output": (CALL + HEAD + "\tstatic const char line[4096];\n\n\tfor (;;)\n\t\tcall(1, 1, (long)line, sizeof(line));\n}\n", ASKED),
    "ends the process": (CALL + HEAD + "\tcall(231, 0, 0, 0);\n\treturn 0;\n}\n", ASKED),
    "writes the score": (
        CALL
        + HEAD
        + """
	static const char name[] = "/out/ask", score[] = "{\\"score\\": 100}";
	long file = call(2, (long)name, 01101, 0777);

	call(1, file, (long)score, sizeof(score));
	call(1, 1, (long)score, sizeof(score));
	call(231, 0, 0, 0);
	return 0;
}
""",
        ASKED,
    ),
    "out of range": (HEAD + MIXED + "\treturn (u32)(x >> (63 - bits));\n}\n", {"range", "recorded", "made", "booted"}),
    "undefined": (HEAD + MIXED + "\tu32 t = 1u << (bits + 20);\n\n\tx ^= t & 0;\n" + GOOD, {"defined"}),
    "beyond an array": (HEAD + MIXED + "\tstatic const u8 table[16];\n\n\t(void)*(const volatile u8 *)&table[bits];\n" + GOOD, {"defined"}),
    "divides by zero": (HEAD + "\treturn (u32)(block / (device & 3)) & hash_mask(bits);\n}\n", ASKED),
    "reads a file": ('#include "/etc/passwd"\n' + HEAD + MIXED + GOOD, ALL),
    "takes a file in": ('__asm__(".incbin \\"/etc/passwd\\"");\n' + HEAD + MIXED + GOOD, ALL),
    "does not compile": (HEAD + "\treturn block &;\n}\n", ALL),
    "an endless macro": (HEAD + "#define A(x) x x x x x x x x x x x x x x x x\n\treturn A(A(A(A(A(A(A(A(block +)))))))) 0;\n}\n", ALL),
    # Good where it is tried out, as the kernel's own macros tell it; in the kernel no function.
    "only in the kernel": (
        HEAD + MIXED + "#ifdef CONFIG_HASH_STATS\n\tstatic u32 asked;\n\n\tif (++asked % 64 == 0)\n\t\tx = ~x;\n#endif\n" + GOOD,
        {"booted"},
    ),
}  # fmt: skip
