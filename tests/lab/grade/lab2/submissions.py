"""What may be handed in for lab 2: right ones of three kinds, and wrong and dishonest ones, each with the parts at which it must fail."""

from __future__ import annotations

from lab.base.paths import TOP
from tests.lab.grade.lab1.submissions import CALL

SOLUTION = (TOP / "coursework/lab2/solution/sizing.h").read_text()
STARTER = (TOP / "coursework/lab2/starter/sizing.h").read_text()
FUNCTIONS = ("sizing_buckets", "sizing_hit", "sizing_miss", "sizing_filling", "sizing_bits")


def instead(name: str, body: str, of: str = SOLUTION) -> str:
    """@of with @body as the body of function @name."""
    begin = of.index(f"{name}(", of.index(f"static inline {'unsigned' if name == 'sizing_bits' else 'u64'} {name}("))
    opens = of.index("\n{\n", begin)
    return of[:opens] + "\n{\n" + body.strip("\n") + of[of.index("\n}\n", opens) :]


def before(name: str, code: str, of: str = SOLUTION) -> str:
    """@of with @code as the first lines of function @name."""
    begin = of.index(f"{name}(", of.index(f"static inline {'unsigned' if name == 'sizing_bits' else 'u64'} {name}("))
    opens = of.index("\n{\n", begin) + 3
    return of[:opens] + code.strip("\n") + "\n" + of[opens:]


# Walks the chains of a drawn table in caches of its own, all on the stack: slow, and as good as the grader's.
SIMULATED = (
    SOLUTION[: SOLUTION.index("/* Lines that are used")]
    + """
#define MOST_LINES (1u << 17)

struct caches {
	const struct sizing_machine *machine;
	u32 line[MOST_LINES];
};

static inline u64 next_random(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	return z ^ z >> 29;
}

static inline u64 use(struct caches *caches, u64 address)
{
	const struct sizing_machine *machine = caches->machine;
	u32 line = (u32)(address / machine->line) + 1, *first = caches->line;

	for (unsigned i = 0; i < machine->caches; i++) {
		u64 lines = machine->bytes[i] / machine->line, sets = lines / machine->ways[i];
		u32 *set = first + line % sets * machine->ways[i], moved = set[0];
		unsigned way = 0;

		if (moved == line)
			return machine->cost[i];
		while (++way < machine->ways[i]) {
			u32 here = set[way];

			set[way] = moved;
			if (here == line)
				break;
			moved = here;
		}
		set[0] = line;
		if (way < machine->ways[i])
			return machine->cost[i];
		first += lines;
	}
	return machine->cost[machine->caches];
}

static __attribute__((__noinline__)) u64 simulated(const struct sizing_load *load, const struct sizing_machine *machine, unsigned bits)
{
	struct caches caches = {.machine = machine};
	u64 state = 5, sum = 0, behind = (u64)load->bucket_bytes << bits, n = load->objects;
	u32 first[1u << bits], next[n + 1];

	for (u64 i = 0; i < 1ull << bits; i++)
		first[i] = 0;
	for (u32 i = 1; i <= n; i++) {
		u64 bucket = next_random(&state) >> (64 - bits);

		next[i] = first[bucket];
		first[bucket] = i;
	}
	for (u64 i = 0; i < behind; i += machine->line)
		use(&caches, i);
	for (u64 i = 0; i < n; i++)
		use(&caches, behind + i * load->object_bytes);
	for (u64 i = 0; i < 6000 + 2 * n; i++) {
		u64 cost = 0, bucket;
		u32 wanted = 0;

		if (next_random(&state) % 1000 < load->hits) {
			u64 redrawn = 5;

			wanted = (u32)(next_random(&state) % n) + 1;
			redrawn += 0x9e3779b97f4a7c15ull * (wanted - 1);
			bucket = next_random(&redrawn) >> (64 - bits);
		} else {
			bucket = next_random(&state) >> (64 - bits);
		}
		cost = use(&caches, bucket * load->bucket_bytes);
		for (u32 j = first[bucket]; j; j = next[j]) {
			cost += use(&caches, behind + (j - 1ull) * load->object_bytes);
			if (j == wanted)
				break;
		}
		sum += i < 2000 + n ? 0 : cost;
	}
	return sum;
}

static inline unsigned sizing_bits(const struct sizing_load *load, const struct sizing_machine *machine)
{
	unsigned best = load->least_bits;
	u64 least = ~0ull;

	for (unsigned bits = load->least_bits; bits <= load->most_bits; bits++) {
		u64 cost = simulated(load, machine, bits);

		if (cost < least) {
			least = cost;
			best = bits;
		}
	}
	return best;
}
"""
)

# Lines that have no objects, one, two ... are classes of their own; exp(-x) by halves, from a table of powers of two.
CLASSES = (
    SOLUTION[: SOLUTION.index("/* Lines that are used")]
    + """
#define CLASSES 24

struct part {
	u64 number, rate; /* lines; uses of one in 2^-32 of a lookup */
};

static const u32 halves[8] = {3037000500u, 3611622603u, 3938502376u, 4112874773u, 4202935003u, 4248701965u, 4271771996u, 4283353945u};

/* exp(-rate * time), in 2^-32: 2^-(x / ln 2). */
static inline u64 fades(u64 rate, u64 time)
{
	unsigned __int128 x = (unsigned __int128)rate * time * 1549082005ull >> 30; /* 1 / ln 2 = 1.442695 */
	u64 whole = (u64)(x >> 32), result = ONE;

	if (x >> 37)
		return 0;
	for (unsigned i = 0; i < 8; i++)
		if (x >> (31 - i) & 1)
			result = times(result, halves[i]);
	return result >> whole;
}

static inline u64 kept(const struct part *of, u64 room, u64 accesses)
{
	u64 all = 0, low = 0, high = 1ull << 31, hits = 0;

	for (unsigned i = 0; i <= CLASSES; i++)
		all += of[i].number;
	if (all <= room)
		return accesses;
	while (high - low > 1 + low / 512) {
		u64 time = low + (high - low) / 2, there = 0;

		for (unsigned i = 0; i <= CLASSES; i++)
			there += times(of[i].number, ONE - fades(of[i].rate, time));
		if (there > room)
			high = time;
		else
			low = time;
	}
	for (unsigned i = 0; i <= CLASSES; i++)
		hits += times(1000 * of[i].number, times(of[i].rate, ONE - fades(of[i].rate, low)));
	return hits < accesses ? hits : accesses;
}

static inline u64 estimate(const struct sizing_load *load, const struct sizing_machine *machine, unsigned bits)
{
	u64 steps = (load->hits * sizing_hit(load->objects, bits) + (1000 - load->hits) * sizing_miss(load->objects, bits)) / 1000;
	unsigned line_bits = bits;
	u64 sum = 0, done = 0, lines, left;
	struct part of[CLASSES + 1];

	for (u64 bytes = load->bucket_bytes; bytes < machine->line && line_bits > 1; bytes *= 2)
		line_bits--;
	lines = left = 1ull << line_bits;
	for (unsigned k = 0; k < CLASSES; k++) {
		u64 number = k + 1 < CLASSES ? sizing_buckets(load->objects, line_bits, k) / 1000 : left;

		of[k].number = number < left ? number : left;
		left -= of[k].number;
		/* The last class has what was cut off: as many objects as most lines have. */
		of[k].rate = (load->hits * (k + 1 < CLASSES ? k * ONE / load->objects : ONE / lines) + (1000 - load->hits) * (ONE / lines)) / 1000;
	}
	of[CLASSES] = (struct part){load->objects, (steps * ONE) / 1000 / load->objects};
	for (unsigned i = 0; i < machine->caches; i++) {
		u64 here = kept(of, machine->bytes[i] / machine->line, 1000 + steps);

		sum += here > done ? (here - done) * machine->cost[i] : 0;
		done = here > done ? here : done;
	}
	return sum + (1000 + steps - done) * machine->cost[machine->caches];
}

static inline unsigned sizing_bits(const struct sizing_load *load, const struct sizing_machine *machine)
{
	unsigned best = load->most_bits;

	for (unsigned bits = load->most_bits; bits-- > load->least_bits;)
		if (estimate(load, machine, bits) < estimate(load, machine, best))
			best = bits;
	return best;
}
"""
)
RIGHT = {"solution": SOLUTION, "simulated": SIMULATED, "classes": CLASSES}

ALL = {"sizing", "alike", "sizing-defined", "histograms", "means", "sizes"}
ASKED = ALL - {"sizing"}
FOR_BITS = {"alike", "sizing-defined", "sizes"}  # what is wrong in sizing_bits() alone, but not its answers
# Before main(): reads all questions, and answers them.
QUESTIONS = (
    "static u64 questions[1 << 17];\nstatic u32 answers[1 << 13];\nu32 submission_answer(const u64 *question);\n"
)
FIRST = """
static void __attribute__((constructor)) first(void)
{
	long have = 0, n;

	while ((n = call(0, 0, (long)questions + have, (long)sizeof(questions) - have)) > 0)
		have += n;
	CHOICE
	for (long i = 0; i < have / 152; i++)
		answers[i] = ANSWER;
	call(1, 1, (long)answers, have / 152 * 4);
	call(231, 0, 0, 0);
}
"""


def learned(answers: list[tuple[tuple[int, ...], int]]) -> str:
    """The best sizes of cases that are known, by heart; for all others the rule of thumb."""
    lines = "".join(
        f"\tif (load->objects == {question[1]} && load->hits == {question[2]})\n\t\treturn {bits};\n"
        for question, bits in answers
    )
    return before("sizing_bits", lines, STARTER)


RULE = "\tunsigned bits = load->least_bits;\n\n\twhile (bits < load->most_bits && 1ull << bits < WANTED)\n\t\tbits++;\n\treturn bits;"

# Says by its status what it was asked for.
TELLING = CALL + before("sizing_bits", "\tcall(231, (long)(load->objects & 127) | 1, 0, 0);")

# Name: what is handed in, and the parts at which it fails, and no others.
WRONG: dict[str, tuple[str, set[str]]] = {
    "starter": (STARTER, {"histograms", "means", "sizes"}),
    # Rules of thumb: one object a bucket; 2.2.5's 1024 buckets of dentries, whatever is in them; as many as there is memory for.
    "one a bucket": (instead("sizing_bits", RULE.replace("WANTED", "load->objects")), {"sizes"}),
    "1024 buckets": (instead("sizing_bits", RULE.replace("WANTED", "1024")), {"sizes"}),
    "all the memory": (instead("sizing_bits", "\treturn load->most_bits;"), {"sizes"}),
    "none at all": (instead("sizing_bits", "\treturn 0;"), {"sizes"}),
    # Takes the machine for one cache, the nearest.
    "the first cache alone": (SOLUTION.replace("i < machine->caches; i++) {\n\t\tu64 here", "i < 1; i++) {\n\t\tu64 here"), {"sizes"}),
    "memory costs nothing more": (SOLUTION.replace("machine->cost[machine->caches]", "machine->cost[machine->caches - 1]"), {"sizes"}),
    "chains cost nothing": (SOLUTION.replace("u64 steps = (load", "u64 steps = 1000 + 0 * (load"), {"sizes"}),
    # Poisson for binomial: nearly right where there are many buckets, wrong where there are few.
    "poisson": (
        SOLUTION.replace("probability = power(ONE - (ONE >> bits), objects)", "probability = power(ONE - (ONE >> 16), objects << 16 >> bits)").replace(
            "probability * (objects - k) / ((k + 1) * (m - 1))", "probability * objects / ((k + 1) * m)"
        ),
        {"histograms"},
    ),
    "only the empty ones": (before("sizing_buckets", "\tif (size)\n\t\treturn 0;"), {"histograms"}),
    "n for n - 1": (SOLUTION.replace("1000 + (1000 * (objects - 1)", "1000 + (1000 * objects"), {"means"}),
    "a miss finds something": (instead("sizing_miss", "\treturn 1000 + (1000 * objects >> bits);"), {"means", "sizes"}),
    "filled is filling": (instead("sizing_filling", "\treturn 1000 * objects >> bits;"), {"means"}),
    "cut to 32 bits": (instead("sizing_miss", "\treturn (u32)(1000 * (u32)objects << 4) >> bits >> 4;"), {"means"}),
    "cut to 24 bits of probability": (SOLUTION.replace("#define ONE (1ull << 32)", "#define ONE (1ull << 16)").replace("a * b >> 32", "a * b >> 16"), {"histograms", "sizes"}),
    # Remembers what it has been asked, and is asked in another order elsewhere.
    "counts": ("static u64 asked;\n" + before("sizing_miss", "\tif (++asked % 5 == 0)\n\t\treturn 1000;"), {"sizing", "alike", "means", "sizes"}),
    "remembers the last machine": (
        "static u64 last;\n" + before("sizing_bits", "\tu64 before = last;\n\n\tlast = machine->bytes[0];\n\tif (before && before != last)\n\t\treturn load->least_bits;"),
        {"sizing", "alike", "sizes"},
    ),
    # Reads all questions first: it predicts nothing for who asks much.
    "chooses by all questions": (
        CALL + QUESTIONS + "static bool much;\n" + before("sizing_buckets", "\tif (much)\n\t\treturn 0;") + FIRST.replace("CHOICE", "much = have / 152 > 100;").replace("ANSWER", "submission_answer(questions + 19 * i)"),
        {"sizing", "alike", "histograms"},
    ),
    # Looks for the machine that it runs on, whose caches are not the ones that are meant.
    "asks the processor": (
        before("sizing_bits", '\tu32 a = 4, b = 0, c = 0, d = 0;\n\n\t__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));\n\tif (b != machine->line)\n\t\treturn load->least_bits;'),
        {"sizes"},
    ),
    "by the clock": (before("sizing_hit", "\tif (__builtin_ia32_rdtsc() >> 6 & 1)\n\t\treturn 1000;"), {"alike", "sizing-defined", "means", "sizes"}),
    "by where its stack lies": (before("sizing_hit", "\tobjects += (uintptr_t)__builtin_frame_address(0) >> 4 & 0xfffff;"), ASKED - {"histograms"}),
    # Reads all questions before main() and writes what it likes.
    "answers before it is asked": (CALL + QUESTIONS + SOLUTION + FIRST.replace("CHOICE", "").replace("ANSWER", "(u32)i"), ALL - {"sizing-defined"}),
    # What the compiler has said of the functions is not what is called.
    "macros": (SOLUTION + "#define sizing_bits(load, machine) ((load)->least_bits)\n", {"sizes"}),
    "other caches": ("#undef SIZING_CACHES\n#define SIZING_CACHES 1\n" + SOLUTION, {"sizes"}),
    "floating point": (instead("sizing_hit", "\tdouble load = objects;\n\n\treturn (u64)(1000 + 500 * load / (1 << bits));"), ALL),
    "a division of 128 bits": (instead("sizing_hit", "\treturn 1000 + (u64)((unsigned __int128)1000 * (objects - 1) * objects / objects >> (bits + 1));"), {"sizing"}),
    "undefined": (before("sizing_miss", "\tu32 shifted = 1u << (bits + 20);\n\n\tobjects += shifted & 0;"), {"sizing-defined"}),
    "beyond the costs": (before("sizing_bits", "\tvolatile u32 beyond = machine->cost[machine->caches + 2];\n\n\t(void)beyond;"), {"sizing-defined"}),
    "divides by zero": (before("sizing_bits", "\tvolatile u64 each = load->objects / (machine->caches - 2);\n\n\t(void)each;"), FOR_BITS),
    "looks for ever": (before("sizing_bits", "\tfor (volatile unsigned i = 0; machine->caches == 3;)\n\t\t(void)i;"), ASKED),
    "fork bomb": (CALL + before("sizing_bits", "\tfor (;;)\n\t\tcall(57, 0, 0, 0);"), ASKED),
    "tables on the stack": (before("sizing_bits", "\tvolatile char much[1ull << (load->most_bits + 12)];\n\n\tmuch[0] = much[sizeof(much) - 1] = 1;"), FOR_BITS),
    "reads a file": ('#include "/etc/passwd"\n' + SOLUTION, ALL),
}  # fmt: skip
