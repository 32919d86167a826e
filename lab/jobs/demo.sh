#!/bin/sh
# demo.sh - the job of `make run`: real programs over a real tree, so that the four caches have work.
#
# /srv/tree holds the tree; everything else under /srv is made here. /srv/copy and its checksums stay for
# the host, which compares them with its own files. A failure ends the job with its status.

tree=/srv/tree
copy=/srv/copy
unpacked=/srv/unpacked
scratch=/srv/scratch
steps=11
step=0

progress() {
	step=$((step + 1))
	echo "[$step/$steps] $*"
}

fail() {
	echo "demo: $*" >&2
	exit 1
}

mkdir -p $scratch || fail "no scratch folder"

progress "find: the files of the tree"
files=$(find $tree -type f | wc -l) || fail find
echo "        $files files, $(find $tree -type d | wc -l) folders"

progress "du: how much they hold"
echo "        $(du -sk $tree | cut -f 1) KB"

progress "grep -r: lines with 'struct'"
echo "        $(grep -r struct $tree | wc -l) lines"

progress "ls -lR: a long listing"
ls -lR $tree > $scratch/listing || fail "ls -lR"
echo "        $(wc -l < $scratch/listing) lines"

progress "cp -r: a copy of the tree"
cp -r $tree $copy || fail "cp -r"
[ "$(find $copy -type f | wc -l)" = "$files" ] || fail "the copy has another number of files"

progress "tar c | tar x: another copy"
mkdir $unpacked || fail mkdir
(cd $tree && tar c .) | (cd $unpacked && tar x) || fail tar
[ "$(find $unpacked -type f | wc -l)" = "$files" ] || fail "tar lost files"

progress "wc: lines, words and bytes of all headers"
find $tree -name '*.h' -type f -exec cat {} + > $scratch/headers || fail cat
echo "        $(wc < $scratch/headers)"

progress "sort: the most frequent first words"
cut -d ' ' -f 1 $scratch/headers | sort | uniq -c | sort -rn | head -n 3

progress "sha256sum: checksums of the copy"
(cd $copy && find . -type f -exec sha256sum {} +) > /srv/copy.sha256 || fail sha256sum
[ "$(wc -l < /srv/copy.sha256)" = "$files" ] || fail "checksums are missing"

progress "sync"
sync

progress "rm -r: the second copy and the scratch files"
rm -r $unpacked $scratch || fail "rm -r"
[ ! -e $unpacked ] || fail "rm left something behind"

echo "demo: done, $files files"
