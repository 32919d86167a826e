# A file set that lies in all groups of an ext2 file system: GROUPS folders, which ext2 spreads over the groups, with
# FILES small files in each, more or less by a quarter, and one of SIZE bytes. Then all names and inodes are read PASSES
# times, with dentries and inodes dropped before each. SEED draws how many files a folder has, and their names.
# Usage: spread.sh SEED GROUPS FILES SIZE PASSES [remove: remove it all at the end]
set -e
random=$1
shift

# A number from 0 to $1 - 1 in $drawn (the minimal standard generator of Park and Miller 1988)
draw() {
	random=$((random * 16807 % 2147483647))
	drawn=$((random % $1))
}

draw 1
group=0 files=0
while [ $group -lt "$1" ]; do
	mkdir /g$group
	draw $(($2 / 2 + 1))
	count=$(($2 - $2 / 4 + drawn))
	file=0
	while [ $file -lt $count ]; do
		draw 1000000
		echo > /g$group/file$file.$drawn
		file=$((file + 1))
	done
	files=$((files + count))
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
echo "{\"workload\":\"spread\",\"case\":\"file set\",\"folders\":$1,\"files\":$files,\"bytes\":$3,\"passes\":$4}"
