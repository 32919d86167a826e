# What dentries take: a tree of 6,000 files in 584 folders is made and walked once by `workload`, and stays; then each file is
# looked up by its whole path. Prints a dentry's size, as /proc/slabinfo has it, and the memory that is used more than before.
# Usage: space.sh SEED
set -e
free_kb() { awk '/^MemFree:/ { print $2 }' /proc/meminfo; }
before=$(free_kb)
workload tree --walks find --passes 1 --depth 3 --width 8 --files 6000 --size-mean 0 --keep --seed "$1" > /dev/null
find /var/tmp/workload -type f -exec stat -c %n {} + > /dev/null
after=$(free_kb)
size=$(awk '$1 == "dentry" { print $4 }' /proc/slabinfo)
echo "{\"workload\":\"space\",\"case\":\"tree\",\"dentry_bytes\":$size,\"used_kb\":$((before - after))}"
