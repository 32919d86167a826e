#!/bin/bash
# dbench's file load: the first part of its script of a client, by four clients for three seconds. Its figures are of time: not printed.
. "${0%/*}/common.sh"
head -12000 /usr/share/dbench/client.txt > load.txt
dbench -t 3 -c load.txt 4 > log 2>&1 && echo done || { echo "status $?"; tail log; }
grep -c ERROR log
rm log load.txt && tree_of .
