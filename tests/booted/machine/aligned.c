/* aligned.c - what a program wants aligned is, wherever it is loaded. Prints by how much it is not.
 */
#include <stdint.h>
#include <stdio.h>

static _Alignas(1 << 21) char large[1 << 21] = {1};
static char *volatile place = large; /* or the compiler knows the answer */

int main(void)
{
	printf("off: %lx\n", (unsigned long)((uintptr_t)place & (sizeof(large) - 1)));
	return 0;
}
