#!/bin/sh
# Memory shortage: two sorts at once of lines that do not fit, and two areas, of which the first is soon full.
# about: sort, twice at once with 20 MB of lines each, in a machine of 64 MB that swaps
# record: --mem 64M+disk --size 64M --ext2-free 100 --set SWAP=y --set SWAP_TABLE=chained --package coreutils
for megabytes in 12 52; do
	dd if=/dev/zero of=/swap$megabytes bs=1M count=$megabytes 2>/dev/null || exit 1
	mkswap /swap$megabytes >/dev/null && swapon /swap$megabytes || exit 1
done
for name in one two; do
	base64 -w 100 /dev/urandom | head -n 205000 | sort -S 48M | md5sum > /tmp/$name &
done
wait
cat /tmp/one /tmp/two /proc/swaps
