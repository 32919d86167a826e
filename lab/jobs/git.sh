#!/bin/sh
# git.sh - a repository's life: init, add, commit, branch, merge, rebase, clone, gc, fsck. Says the same each time.
# packages: git coreutils
# ignore: */.git/index
# FILES in the environment: how many files (default 200).
set -e
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_AUTHOR_DATE='1700000000 +0000'
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b GIT_COMMITTER_DATE='1700000000 +0000'
export GIT_CONFIG_NOSYSTEM=1
mkdir repository
cd repository
git init -q -b main .
file=0
while [ $file -lt "${FILES:-200}" ]; do
	folder=d$((file % 20))/e$((file % 7))
	mkdir -p $folder
	echo "$file $folder" > $folder/f$file
	file=$((file + 1))
done
git add .
git commit -q -m first
git checkout -q -b side
echo side >> d1/e1/f1
git commit -q -a -m second
git checkout -q main
echo main >> d2/e2/f2
rm d3/e3/f3
git commit -q -a -m third
git status
git merge -q -m merged side
git checkout -q -b last HEAD~1
echo last > new
git add new
git commit -q -m fourth
git rebase -q main
git log --oneline --graph
git diff --stat main
git gc -q
git fsck
cd ..
git clone -q repository clone
git -C clone log --oneline | wc -l
