/*
 * My sizes: what chance makes of a table, and how large one should be. For lab 2, which says what
 * each function is to give.
 *
 * Whole numbers only: the kernel has no floating point, and no division of 128 bits. What is told
 * of the load and the machine stands in lab/grade/sizing/given.h.
 */

/* How many of 2^bits buckets have @size of the objects, on the average; in thousandths. */
static inline u64 sizing_buckets(u64 objects, unsigned bits, unsigned size)
{
	return 0;
}

/* The mean steps of a hit, in thousandths, if each object is looked for as often as the others. */
static inline u64 sizing_hit(u64 objects, unsigned bits)
{
	return 1000;
}

/* The mean steps of a miss, in thousandths. */
static inline u64 sizing_miss(u64 objects, unsigned bits)
{
	return 1000 * objects >> bits;
}

/*
 * The mean steps of a miss, in thousandths, while the table is filled: it is empty at first, and
 * each of the objects is looked for once in vain, and then inserted.
 */
static inline u64 sizing_filling(u64 objects, unsigned bits)
{
	return 1000 * objects >> bits;
}

/* The bits of the table whose lookups cost least. This is Linux 2.2's: a bucket for each object. */
static inline unsigned sizing_bits(const struct sizing_load *load,
				   const struct sizing_machine *machine)
{
	unsigned bits = load->least_bits;

	while (bits < load->most_bits && 1ull << bits < load->objects)
		bits++;
	return bits;
}
