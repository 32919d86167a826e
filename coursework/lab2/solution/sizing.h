/*
 * A solution of lab 2: the binomial distribution step by step, and the size by what a cache would
 * hold of the lines that lookups use.
 *
 * Source: the binomial distribution; Che, Tung and Wang 2002 for the cache: what is used at a rate
 * of r is there with a probability of 1 - exp(-rt), and t is such that the cache is full.
 * Weakness: caches are taken to have one set, and all lines of the table to be used equally often.
 */

#define ONE (1ull << 32) /* probabilities are fractions of it */

static inline u64 times(u64 a, u64 b)
{
	return (u64)((unsigned __int128)a * b >> 32);
}

/* @base^@exponent, of a fraction. */
static inline u64 power(u64 base, u64 exponent)
{
	u64 result = ONE;

	for (; exponent; exponent >>= 1) {
		if (exponent & 1)
			result = times(result, base);
		base = times(base, base);
	}
	return result;
}

/* None: (1 - 1/m)^n. From k to k + 1 the probability changes by (n - k) / (k + 1) / (m - 1). */
static inline u64 sizing_buckets(u64 objects, unsigned bits, unsigned size)
{
	u64 m = 1ull << bits, probability = power(ONE - (ONE >> bits), objects);

	for (u64 k = 0; k < size; k++)
		probability = k < objects ? probability * (objects - k) / ((k + 1) * (m - 1)) : 0;
	return times(probability, 1000 * m);
}

/* Half of the others came later, and one in m of these is in the way. */
static inline u64 sizing_hit(u64 objects, unsigned bits)
{
	return 1000 + (1000 * (objects - 1) >> (bits + 1));
}

static inline u64 sizing_miss(u64 objects, unsigned bits)
{
	return 1000 * objects >> bits;
}

/* The i-th miss meets i objects in m buckets. */
static inline u64 sizing_filling(u64 objects, unsigned bits)
{
	return 1000 * (objects - 1) >> (bits + 1);
}

/* Lines that are used equally often: how many, and how often one is, in 2^-32 of a lookup. */
struct lines {
	u64 number, rate;
};

/* exp(-rate * time): (1 - x / 2^k)^(2^k). */
static inline u64 absent(u64 rate, u64 time)
{
	unsigned __int128 x = (unsigned __int128)rate * time;

	if (x >> 37)
		return 0;
	return power(ONE - ((u64)x >> 10), 1 << 10);
}

/* How many of 1,000 * lookups' accesses find their line in a cache of so many lines. */
static inline u64 found(const struct lines of[2], u64 room, u64 accesses)
{
	u64 low = 0, high = 1ull << 32, hits = 0;

	if (of[0].number + of[1].number <= room)
		return accesses;
	while (high - low > 1 + low / 256) {
		u64 time = low + (high - low) / 2, there = 0;

		for (unsigned i = 0; i < 2; i++)
			there += times(of[i].number, ONE - absent(of[i].rate, time));
		if (there > room)
			high = time;
		else
			low = time;
	}
	for (unsigned i = 0; i < 2; i++) {
		u64 share = ONE - absent(of[i].rate, low);

		hits += times(1000 * of[i].number, times(of[i].rate, share));
	}
	return hits < accesses ? hits : accesses;
}

/* Of 1,000 lookups, in a table of 2^bits buckets. */
static inline u64 cycles(const struct sizing_load *load, const struct sizing_machine *machine,
			 unsigned bits)
{
	u64 steps = (load->hits * sizing_hit(load->objects, bits) +
		     (1000 - load->hits) * sizing_miss(load->objects, bits)) /
		    1000;
	u64 table = ((u64)load->bucket_bytes << bits) / machine->line, sum = 0, before = 0;
	struct lines of[2] = {{.number = table ? table : 1}, {.number = load->objects}};

	of[0].rate = ONE / of[0].number;
	of[1].rate = (steps << 22) / 1000 * 1024 / load->objects;
	for (unsigned i = 0; i < machine->caches; i++) {
		u64 here = found(of, machine->bytes[i] / machine->line, 1000 + steps);

		if (here > before) {
			sum += (here - before) * machine->cost[i];
			before = here;
		}
	}
	return sum + (1000 + steps - before) * machine->cost[machine->caches];
}

static inline unsigned sizing_bits(const struct sizing_load *load,
				   const struct sizing_machine *machine)
{
	unsigned best = load->least_bits;
	u64 least = ~0ull;

	for (unsigned bits = load->least_bits; bits <= load->most_bits; bits++) {
		u64 cost = cycles(load, machine, bits);

		if (cost < least) {
			least = cost;
			best = bits;
		}
	}
	return best;
}
