#!/bin/bash
# git on a repository of 2,000 files: init, add, commit, status, log, diff, branch, merge, rebase, gc, clone, fsck.
# packages: bash coreutils findutils git
# ignore: */.git/index
. "${0%/*}/common.sh"
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b
export GIT_AUTHOR_DATE='2001-01-01T00:00:00Z' GIT_COMMITTER_DATE='2001-01-01T00:00:00Z' GIT_PAGER=cat
git config --global init.defaultBranch main
git config --global gc.auto 0
git config --global advice.detachedHead false
# git reads a file again whose second of change is the index's: an old time spares both kernels what depends on their speed.
old_times() { find . -path ./.git -prune -o -type f -exec touch -d @1000000000 {} +; }
mkdir repository && cd repository && git init -q
for d in $(seq 1 40); do
	mkdir -p "d$d/sub"
	for f in $(seq 1 50); do printf 'file %d of %d\n' "$f" "$d" > "d$d/sub/f$f"; done
done
old_times && git add . && git commit -qm 'two thousand files' && git status --short | wc -l && git ls-files | wc -l
git rev-parse HEAD
git checkout -q -b side
for d in 1 2 3 4 5; do sed -i 's/of/from/' d$d/sub/f1*; git mv d$d/sub/f2 d$d/moved; git commit -qam "side $d"; done
git checkout -q main
for d in 6 7 8; do echo more >> d$d/sub/f7; rm d$d/sub/f8; git commit -qam "main $d"; done
git diff --stat side | tail -3
git merge -q -m merged side && git log --oneline --graph | head -20
git checkout -q -b work HEAD~1
for n in 1 2 3; do echo "$n" >> d20/sub/f20; git commit -qam "work $n"; done
git rebase -q main && git log --format='%h %s' | head -5
git checkout -q main && git merge -q work
echo dirty > d9/sub/f9 && echo new > untracked && git status --short && git diff
git stash -q && git stash pop -q && git checkout -q -- d9 && rm untracked
git tag -a v1 -m one && git describe
git gc -q && git count-objects -v | grep -v size && git fsck --full --no-progress
cd .. && git clone -q repository clone 2>&1 && cd clone && old_times && git status --short && git log --format=%H | sha256sum && git fsck --full --no-progress
git blame d20/sub/f20 && git grep -c from | wc -l && git archive HEAD | sha256sum
cd .. && git clone -q --bare repository bare.git && cd clone && echo pushed > p && git add p && git commit -qm push &&
	git push -q ../bare.git main 2>&1 && cd ../repository && git pull -q ../bare.git main 2>&1 && git log -1 --format=%H
cd .. && rm -rf repository/.git/index.lock && tree_of clone | grep -v ' ./.git'
