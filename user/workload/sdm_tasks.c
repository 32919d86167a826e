/*
 * What the scripts do, after SPEC SDM's ("commands typically used by software developers, such as
 * cc, ed, nroff, and spell", Lever 1999, section 2), on the source of Lua: a tree with C files,
 * headers and a Makefile in src, and manual pages and HTML in doc.
 *
 *	%S the source tree	%c a C file of the script, without .c, the same in a whole task
 *	%d another one		%w a word that every C file of it has
 *	%N a number		%L the files of src that a small script works on
 *	%O two objects of them
 */
#include "sdm.h"

#define EVERY (1 << SIZE_SMALL | 1 << SIZE_CPU | 1 << SIZE_IO)
#define SMALL (1 << SIZE_SMALL)
#define WHOLE (1 << SIZE_CPU | 1 << SIZE_IO)
#define IO (1 << SIZE_IO)

#define WORDS "/usr/share/dict/words"

/* clang-format off */
const struct task sdm_first[] = {
	{"copy a part of the source", SMALL, {
		{.line = "mkdir src doc obj"},
		{.line = "cp %L src"},
		{.line = "cp %S/doc/lua.1 %S/doc/luac.1 %S/doc/readme.html doc"},
	}},
	{"copy the source", WHOLE, {
		{.line = "mkdir obj"},
		{.line = "cp -R %S/src %S/doc ."},
	}},
	{"copy the source again", IO, {
		{.line = "cp -R %S/src version1"},
		{.line = "cp -R %S/src version2"},
		{.line = "cp -R %S/src version3"},
		{.line = "cp -R %S/src version4"},
	}},
	{.name = NULL},
};

const struct task sdm_tasks[] = {
	{"edit", EVERY, {
		{.line = "ed -s src/%c.c", .input = "/include/\na\n/* change %N */\n.\nw\nq\n"},
		{.line = "diff -u %S/src/%c.c src/%c.c > %c.diff", .status = 1},
		{.line = "tcc -c -o obj/%c.o src/%c.c"},
	}},
	{"compile", EVERY, {
		{.line = "tcc -c -o obj/%c.o src/%c.c"},
		{.line = "tcc -c -o obj/%d.o src/%d.c"},
		{.line = "ls -l obj > objects"},
	}},
	{"make objects", SMALL, {
		{.line = "make -s -C src CC=tcc %O"},
	}},
	{"make all", WHOLE, {
		{.line = "make -s -C src CC=tcc AR=tcc~-ar~rcs RANLIB=true SYSCFLAGS=-DLUA_USE_POSIX SYSLIBS= MYLDFLAGS= lua"},
		{.line = "src/lua -v > version"},
	}},
	{"write a program", EVERY, {
		{.line = "ed -s", .input = "a\n#include <stdio.h>\n\nint main(void)\n{\n\tint c, lines = 0;\n\n"
			  "\twhile ((c = getchar()) != EOF)\n\t\tlines += c == '\\n';\n"
			  "\tprintf(\"%%d\\n\", lines + %N);\n\treturn 0;\n}\n.\nw lines.c\nq\n"},
		{.line = "tcc -o lines lines.c"},
		{.line = "./lines < doc/lua.1 > count"},
	}},
	{"format", EVERY, {
		{.line = "mandoc -T ascii doc/lua.1 > lua.txt"},
		{.line = "tr -s \\n < lua.txt | wc > size"},
	}},
	{"spell", EVERY, {
		{.line = "tr -cs A-Za-z \\n < doc/luac.1 | tr A-Z a-z | sort -u | comm -23 - " WORDS " > misspelt"},
	}},
	{"search", EVERY, {
		{.line = "grep -rn %w src > hits"},
		{.line = "cut -d : -f 1 hits | sort | uniq -c | sort -rn > top"},
	}},
	{"archive", EVERY, {
		{.line = "tar -cf src.tar src"},
		{.line = "mkdir copy"},
		{.line = "tar -xf src.tar -C copy"},
		{.line = "diff -r src copy/src"},
		{.line = "rm -r copy src.tar"},
	}},
	{"look around", EVERY, {
		{.line = "ls -lR . > listing"},
		{.line = "find . -name *.c -size +8 > found"},
		{.line = "wc src/%c.c doc/lua.1 listing > counts"},
	}},
	{"back up", EVERY, {
		{.line = "cp -p src/%c.c %c.bak"},
		{.line = "cmp %c.bak src/%c.c"},
		{.line = "mv %c.bak %c.old"},
		{.line = "rm %c.old"},
	}},
	{"compare versions", IO, {
		{.line = "diff -r version1 version2"},
		{.line = "grep -rc %w version3 version4 > hits"},
		{.line = "cp version1/%c.c version4/%d.h"},
	}},
	{.name = NULL},
};
/* clang-format on */
