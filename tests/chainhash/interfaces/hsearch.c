/*
 * hsearch.c - a program as they were written to System V's hsearch, and what it may rely on.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 5000 };

#define CHECK(truth)                                                                               \
	do {                                                                                       \
		if (!(truth)) {                                                                    \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #truth);        \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

static char words[WORDS][16];

/* One table, which grows beyond what it was made for. */
static void check_one(void)
{
	ENTRY *first, *found;

	CHECK(!hsearch((ENTRY){words[0], NULL}, FIND) && errno == EINVAL);
	CHECK(hcreate(10));
	first = hsearch((ENTRY){words[0], words[1]}, ENTER);
	for (int i = 1; i < WORDS; i++)
		CHECK(hsearch((ENTRY){words[i], words[i]}, ENTER));
	CHECK(hsearch((ENTRY){words[0], NULL}, FIND) == first && first->data == words[1]);
	/* What is there stays; its data is the program's to change. */
	found = hsearch((ENTRY){words[0], words[2]}, ENTER);
	CHECK(found == first && found->data == words[1]);
	found->data = words[3];
	CHECK(hsearch((ENTRY){words[0], NULL}, FIND)->data == words[3]);
	errno = 0;
	CHECK(!hsearch((ENTRY){"not there", NULL}, FIND) && errno == ESRCH);
	hdestroy();
	CHECK(hcreate(10) && !hsearch((ENTRY){words[0], NULL}, FIND));
	hdestroy();
}

/* Two at once. */
static void check_several(void)
{
	struct hsearch_data one, two;
	ENTRY *found;

	memset(&one, 0, sizeof(one));
	memset(&two, 0, sizeof(two));
	CHECK(hcreate_r(WORDS, &one) && hcreate_r(1, &two) && !hcreate_r(1, &two));
	for (int i = 0; i < WORDS; i++)
		CHECK(hsearch_r((ENTRY){words[i], words[i]}, ENTER, &found, i % 2 ? &one : &two));
	for (int i = 0; i < WORDS; i++) {
		CHECK(hsearch_r((ENTRY){words[i], NULL}, FIND, &found, i % 2 ? &one : &two));
		CHECK(found->data == words[i]);
		CHECK(!hsearch_r((ENTRY){words[i], NULL}, FIND, &found, i % 2 ? &two : &one));
	}
	hdestroy_r(&one);
	hdestroy_r(&two);
}

int main(void)
{
	for (int i = 0; i < WORDS; i++)
		sprintf(words[i], "word %d", i);
	check_one();
	check_several();
	puts("ok");
	return 0;
}
