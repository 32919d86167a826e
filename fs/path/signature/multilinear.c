/* multilinear.c - see multilinear.h. */
#if defined(CONFIG_DCACHE_FASTPATH) && defined(CONFIG_PATH_SIGNATURE_MULTILINEAR)

#include <arch/math/wide.h>

#include "fs/path/signature/linear.h"

static bool has_mulx;

static noinline void go_on_anywhere(struct signature *sum, const struct signature *directory,
				    const char *text)
{
	go_on(sum, directory, text, arch_multiply_add_320);
}

ARCH_MULX void signature_below(struct signature *sum, const struct signature *directory,
			       const char *text)
{
	if (likely(has_mulx))
		go_on(sum, directory, text, arch_multiply_add_320_mulx);
	else
		go_on_anywhere(sum, directory, text);
}

void signature_init(void)
{
	has_mulx = arch_has_mulx();
	draw_keys();
}

#endif
