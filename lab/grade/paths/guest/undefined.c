/*
 * undefined.c - what gcc's sanitizer of undefined behaviour calls in a kernel that has no library
 * for it: the machine ends, and says where. Each is told of a structure that begins with the place.
 */
#include "core/log/assert.h"

struct place {
	const char *file;
	unsigned line, column;
};

#define HANDLER(name, what)                                                                        \
	void __ubsan_handle_##name(const struct place *place);                                     \
	void __ubsan_handle_##name(const struct place *place)                                      \
	{                                                                                          \
		panic("undefined behaviour in line %u: %s", place->line, what);                    \
	}

HANDLER(type_mismatch_v1_abort, "a null pointer, or one to too few bytes, is followed")
HANDLER(out_of_bounds_abort, "an index that is outside of its array")
HANDLER(shift_out_of_bounds_abort, "a shift by more than the word's width")
HANDLER(divrem_overflow_abort, "a division by zero, or one whose result there is not")
HANDLER(load_invalid_value_abort, "a value that its type has not")
HANDLER(vla_bound_not_positive_abort, "an array of no elements, or fewer")
HANDLER(nonnull_arg_abort, "a null pointer where there must be none")
HANDLER(nonnull_return_v1_abort, "a null pointer where there must be none")
HANDLER(invalid_builtin_abort, "bits are counted of a word that has none")
HANDLER(builtin_unreachable, "a place was reached that was said not to be")
HANDLER(missing_return, "the end of a function that has to return something")
