# A machine that has been in use for a while: its page cache holds MEGABYTES of a file that nobody asks for again, and its
# dentry and inode caches FOLDERS times FILES names, in folders that ext2 spreads over its groups. Then COMMAND runs.
# Usage: used.sh MEGABYTES FOLDERS FILES COMMAND [ARGUMENT...]
set -e
megabytes=$1 folders=$2 files=$3
shift 3
names=
while [ "$files" -gt 0 ]; do
	files=$((files - 1))
	names="$names file$files"
done
while [ "$folders" -gt 0 ]; do
	folders=$((folders - 1))
	mkdir "/g$folders"
	cd "/g$folders"
	touch $names
done
cd /
sync
truncate -s "${megabytes}M" /held
cat /held > /dev/null
exec "$@"
