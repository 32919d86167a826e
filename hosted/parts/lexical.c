/* lexical.c - texts shortened by ".." (fs/path/lexical/lexical.h), for test_lexical.py. */
#include "fs/path/lexical/lexical.c"
#include "fs/path/lockless/component.c"

void begin(char *text)
{
	lexical_begin(text);
}
