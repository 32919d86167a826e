#!/bin/sh
# make.sh - make and tcc build a program of some files, twice (the second time there is nothing to do), and run it.
# packages: make tcc libc6-dev
# FILES in the environment: how many (default 20).
set -e
mkdir program
cd program
file=0
while [ $file -lt "${FILES:-20}" ]; do
	cat > f$file.c <<END
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int f$file(int x)
{
	char text[100];

	sprintf(text, "%d", x);
	return strlen(text) + $file;
}
END
	objects="$objects f$file.o"
	calls="$calls + f$file($file)"
	declarations="$declarations int f$file(int);"
	file=$((file + 1))
done
cat > main.c <<END
#include <stdio.h>
$declarations
int main(void) { printf("%d\n", 0 $calls); return 0; }
END
cat > Makefile <<END
program: main.o $objects
	tcc -o \$@ \$^
%.o: %.c
	tcc -c -o \$@ \$<
END
make
./program
make
touch f1.c
make
