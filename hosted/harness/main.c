/* main.c - hosted: main() of the test programs; a fuzzer brings its own. */
#include "hosted/machine/hosted.h"

int main(int argc, char **argv)
{
	return test_main(argc, argv);
}
