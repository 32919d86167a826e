#!/bin/sh
# tools.sh - GNU's and Debian's tools on a tree: find, grep, sed, awk, sort, tar, gzip, diff, cp, ls and their like.
# packages: bash coreutils findutils grep sed gawk tar gzip diffutils
# FILES in the environment: how many (default 40).
set -e
export LC_ALL=C TZ=UTC
mkdir tree
cd tree
for file in $(seq "${FILES:-40}"); do
	folder=d$((file % 11))/e$((file % 5))
	mkdir -p $folder
	seq $file $((file + 50)) > $folder/f$file
	chmod $((file % 8))$((file % 8))4 $folder/f$file
done
ln d1/e1/f1 hard
ln -s d2/e2 soft
mkfifo pipe
cd ..
touch -h -d @1700000000 tree/soft
find tree -type f -exec touch -d @1700000000 {} +
find tree -type d -exec touch -d @1700000000 {} +
find tree -type f -name 'f*1' | sort | xargs grep -c 7 | head -n 20
find tree -links 2 -type f | sort
find tree -perm -111 | wc -l
ls -lR --time-style=+%s tree/d1
sed -n '2,4s/1/one/gp' tree/d1/e1/f1
gawk '{ sum += $1 } END { print NR, sum }' tree/d*/e*/f*
cp -a tree copy
diff -r --no-dereference tree/d3 copy/d3 && echo same
sed -i s/7/seven/ copy/d3/e0/*
diff -r tree/d3 copy/d3 | head -n 20 || true
tar cf tree.tar --sort=name --exclude=pipe tree
gzip -n -9 -k tree.tar
sha256sum tree.tar tree.tar.gz
mkdir out
tar xzf tree.tar.gz -C out
diff -r --no-dereference --exclude=pipe tree out/tree && echo unpacked
cut -c1-2 tree/d1/e1/f1 | sort -rn | uniq -c | tail -n 3
comm -12 tree/d1/e1/f1 tree/d2/e2/f2 | wc -l
mv copy/d4 moved
rm -r copy/d5 out
du -a --apparent-size moved | sort -k 2 | tail -n 5
stat -c '%n %A %h %s' tree/* hard 2>/dev/null || true
bash -c 'for i in {1..3}; do echo $i; done | tac; sleep 100 & kill %1; wait; echo $?'
