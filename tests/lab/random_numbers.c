/* The workload program's random numbers: the generator's own reference values, and moments. For test_workload.py. */
#include "user/workload/workload.h"

struct common common = {.seed = 1};

int main(void)
{
	struct random random = {{1, 2, 3, 4}};
	uint64_t tens[10] = {0}, sum = 0, above = 0;
	unsigned order[100], seen = 0;

	for (int i = 0; i < 4; i++)
		printf("%llu ", (unsigned long long)random_next(&random));
	random_start(&random, 7, 0);
	for (int i = 0; i < 200000; i++) {
		uint64_t number = random_exponential(&random, 4096);

		sum += number;
		above += number > 4096;
		tens[random_below(&random, 10)]++;
	}
	printf("%f %f ", (double)sum / 200000, (double)above / 200000);
	for (int i = 0; i < 10; i++)
		printf("%llu ", (unsigned long long)tens[i]);
	random_order(&random, order, 100);
	for (int i = 0; i < 100; i++)
		seen += order[i];
	printf("%u\n", seen);
	return 0;
}
