#!/bin/sh
# Whole paths: with direct lookup (--defconfig tsai) a path is found at once, in a table of paths.
# about: find, ls and git on a kernel that looks up whole paths
# record: --mem 256M --size 64M --defconfig tsai --set PATH_TABLE=tagged --package git
export HOME=/root GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
find /usr /etc -name '*.conf' | wc -l
ls -lR /usr/share | wc -l
git init -q repository && cd repository || exit 1
for folder in core fs mm net; do
	for part in alpha beta gamma; do
		mkdir -p $folder/$part
		for file in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
			echo "$folder $part $file" > $folder/$part/file$file.c
		done
	done
done
git add . && git commit -qm one && git status
git mv fs/beta fs/delta && git commit -qam two
git status --short && git diff --stat HEAD~
find . -name 'file1*.c' | wc -l
find /usr /etc -name '*.conf' | wc -l
