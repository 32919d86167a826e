/*
 * rtc.c - arch_rtc_seconds() of every day that the battery-backed clock can tell, 2000 to 2099,
 * with registers of the test's own. The C library's calendar is the oracle. Prints "ok", or what
 * differs.
 */
#include <stdio.h>
#include <time.h>

#include <arch/io.h>

static unsigned selected;
static struct tm now;

static void select_register(unsigned number)
{
	selected = number;
}

static u8 read_register(void)
{
	static const int *const fields[] = {[0] = &now.tm_sec,
					    [2] = &now.tm_min,
					    [4] = &now.tm_hour,
					    [7] = &now.tm_mday,
					    [9] = &now.tm_year};
	int value = 0;

	if (selected == 8)
		value = now.tm_mon + 1;
	else if (selected < 10)
		value = *fields[selected] % 100;
	return (u8)(value / 10 << 4 | value % 10);
}

#define outb(value, port) select_register(value)
#define inb(port) read_register()
#include "arch/x86/cpu/clock.c"

int main(void)
{
	const time_t first = 946684800, end = 4102444800; /* the beginnings of 2000 and 2100 */

	for (time_t second = first; second < end; second += 86399) { /* each day, all hours */
		gmtime_r(&second, &now);
		u64 ours = arch_rtc_seconds();

		if (ours != (u64)second) {
			printf("%04d-%02d-%02d: %llu, not %lld\n", now.tm_year + 1900,
			       now.tm_mon + 1, now.tm_mday, ours, (long long)second);
			return 1;
		}
	}
	printf("ok\n");
	return 0;
}
