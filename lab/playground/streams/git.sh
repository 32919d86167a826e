#!/bin/sh
# git: a repository of some hundred files, a commit, and what a programmer asks of it all day.
# about: git status, diff and log on a repository of 480 files
# record: --mem 768M --size 64M --package git
export HOME=/root GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
git init -q repository
cd repository || exit 1
for folder in core fs mm net lib drivers tools docs; do
	for part in alpha beta gamma; do
		mkdir -p $folder/$part
		for file in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
			echo "$folder $part $file" > $folder/$part/file$file.c
		done
	done
done
git add . && git commit -qm one && git status
for round in 1 2 3 4 5; do
	echo "$round" >> fs/beta/file7.c
	rm -f "net/gamma/file$round.c"
	git status --short
	git diff --stat
	git commit -qam "$round"
done
git log --oneline --stat | wc -l
git status
