#!/bin/bash
# dbench's file load: the first part of its script of a client, by four clients for three seconds. Its figures and what
# it has just then of files are of time: not printed, but that all four ran, did something, and met no error.
# packages: bash coreutils findutils gawk dbench
# settings: SYSVIPC=y
. "${0%/*}/common.sh"
head -12000 /usr/share/dbench/client.txt > load.txt
dbench -t 3 -c load.txt 4 > log 2>&1 && echo done || { echo "status $?"; tail log; }
grep -iE 'error|failed to [^c]|FAILED TO START' log || true
gawk '/^Throughput/ { print ($2 > 0 ? "some" : "no"), "throughput of", $4, $5 }' log
rm -r log load.txt clients && tree_of .
