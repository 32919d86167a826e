#!/bin/sh
# find, ls and grep over a system with git in it: a walk of many names, each asked for a few times.
# about: find, ls and grep over a whole system
# record: --mem 768M --size 64M --package git
find / -xdev -type f | wc -l
ls -lR /bin /etc /usr /var | wc -l
grep -rl main /usr/share | wc -l
find / -xdev -name '*.so*' | wc -l
