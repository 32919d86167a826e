# A file set that lies in all groups of an ext2 file system: GROUPS folders, which ext2 spreads over the groups, with
# FILES small files in each and one of SIZE bytes. Then all names and inodes are read PASSES times, with dentries and
# inodes dropped before each.
# Usage: spread.sh GROUPS FILES SIZE PASSES [remove: remove it all at the end]
set -e
group=0
while [ $group -lt "$1" ]; do
	mkdir /g$group
	file=0
	while [ $file -lt "$2" ]; do
		echo > /g$group/file$file
		file=$((file + 1))
	done
	head -c "$3" /dev/zero > /g$group/data
	group=$((group + 1))
done
sync
pass=0
while [ $pass -lt "$4" ]; do
	echo 2 > /proc/sys/vm/drop_caches
	ls -lR /g* > /dev/null
	pass=$((pass + 1))
done
[ "$5" != remove ] || { rm -r /g*; sync; }
echo "{\"workload\":\"spread\",\"case\":\"file set\",\"folders\":$1,\"files\":$2,\"bytes\":$3,\"passes\":$4}"
