#!/bin/sh
# gcc: C files compiled, assembled and linked, each with half a dozen headers that include others.
# about: gcc compiles and links a program of nine files
# record: --mem 768M --size 64M --package gcc --package libc6-dev
mkdir build && cd build || exit 1
cat > part.c <<'C'
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
int PART(int n) { return printf("%d\n", n); }
C
objects=
for part in 1 2 3 4 5 6 7 8; do
	sed "s/PART/part$part/" part.c > part$part.c
	gcc -c part$part.c || exit 1
	objects="$objects part$part.o"
done
echo 'int part7(int); int main(void) { return part7(42) != 3; }' > main.c
gcc -o program main.c $objects && ./program
