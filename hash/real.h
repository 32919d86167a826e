/*
 * real.h - positive real numbers without a floating-point unit: 64 bits of mantissa, any exponent.
 *
 * For the reports' expected values, which range from e^-1000 to 2^62. Each operation cuts the
 * result, so its relative error is below 2^-62; a power to n multiplies that by n.
 * tests/hash/test_report.py compares what comes out with exact fractions.
 */
#pragma once

#include "core/kernel.h"

/* mantissa * 2^exponent; the mantissa's top bit is set, or it is 0. */
struct real {
	u64 mantissa;
	s64 exponent;
};

static inline struct real real_of(u64 value)
{
	unsigned shift = value ? 64 - (unsigned)fls64(value) : 0;

	return (struct real){value << shift, -(s64)shift};
}

static inline struct real real_multiply(struct real a, struct real b)
{
	struct real product = real_of((u64)((unsigned __int128)a.mantissa * b.mantissa >> 64));

	product.exponent += a.exponent + b.exponent + 64;
	return product;
}

/* @b is not 0. One bit of the quotient after the other. */
static inline struct real real_divide(struct real a, struct real b)
{
	unsigned __int128 rest = a.mantissa;
	u64 bits = 0;

	for (unsigned i = 0; i < 64; i++, rest <<= 1) {
		bits = bits << 1 | (rest >= b.mantissa);
		rest -= rest >= b.mantissa ? b.mantissa : 0;
	}

	struct real quotient = real_of(bits);

	quotient.exponent += a.exponent - b.exponent - 63;
	return quotient;
}

static inline struct real real_power(struct real base, u64 exponent)
{
	struct real power = real_of(1);

	for (; exponent; exponent >>= 1) {
		if (exponent & 1)
			power = real_multiply(power, base);
		base = real_multiply(base, base);
	}
	return power;
}

/* The value times @scale, to the nearest whole number; the largest u64 if it is larger. */
static inline u64 real_scaled(struct real value, u64 scale)
{
	struct real r = real_multiply(value, real_of(scale));

	if (!r.mantissa || r.exponent < -64)
		return 0;
	if (r.exponent > 0)
		return ~0ull;
	return (u64)(((((unsigned __int128)r.mantissa << 1) >> -r.exponent) + 1) >> 1);
}
