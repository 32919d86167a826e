#!/bin/bash
# make with tcc builds a real C program of some thousand lines, Lua, which then runs a program; gcc builds and runs one.
# packages: bash coreutils findutils make tcc gcc libc6-dev tar gzip
# source: http://deb.debian.org/debian/pool/main/l/lua5.4/lua5.4_5.4.4.orig.tar.gz 164c7849653b80ae67bec4b7473b884bf5cc8d2dca05653475ec2ed27b9ebf61
. "${0%/*}/common.sh"
tar -xzf /jobs/source.tar.gz && cd lua-5.4.4/src
make -s CC='tcc' CFLAGS='-DLUA_USE_POSIX' SYSLIBS= MYLDFLAGS= AR='tcc -ar rcs' RANLIB=true lua luac 2>&1
cat > sieve.lua <<'L'
local n, prime, count = 30000, {}, 0
for i = 2, n do prime[i] = true end
for i = 2, n do if prime[i] then count = count + 1; for j = i * i, n, i do prime[j] = false end end end
local words = {}
for word in io.open('lua.c'):read('a'):gmatch('%a+') do words[word] = (words[word] or 0) + 1 end
local names = {}
for word in pairs(words) do names[#names + 1] = word end
table.sort(names, function(a, b) return words[a] > words[b] or words[a] == words[b] and a < b end)
print(count, #names, names[1], words[names[1]], string.format('%.10f', math.sin(1)))
L
./lua sieve.lua && ./luac -o sieve.out sieve.lua && ./lua sieve.out && ./lua -v
touch lvm.c && make -n CC=tcc AR='tcc -ar rcs' RANLIB=true lua | grep -c tcc
make -s clean && ls
cat > hello.c <<'C'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) { printf("%s %d %.6f\n", argv[1], argc, cbrt(atof(argv[2]))); return 3; }
C
gcc -O2 -Wall -o hello hello.c -lm && ./hello gcc 27.5 || echo "status $?"
gcc -static -O1 -o hello.static hello.c -lm && ./hello.static static 27.5 || echo "status $?"
cd .. && tree_of . | grep -v -e ' \./src/hello' -e '/hello'
