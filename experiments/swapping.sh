# Lever's load on a machine that swaps: whole scripts, and beside them programs whose memory does not fit, which sort
# lines of random numbers. All of it ends before the job does. The swap file is made on the one disk that there is.
# Usage: swapping.sh MEGABYTES SORTS LINES SEED [OPTION OF workload sdm...]
#        MEGABYTES of swap; SORTS programs at once, each of so many LINES
set -e
mount -o remount,noatime /
dd if=/dev/zero of=/swapfile bs=1M count="$1" 2>/dev/null
mkswap /swapfile >/dev/null
swapon /swapfile
sorts=$2 lines=$3 seed=$4
shift 4
while [ "$sorts" -gt 0 ]; do
	awk -v n="$lines" -v seed="$seed$sorts" 'BEGIN { srand(seed); for (i = 0; i < n; i++) print int(rand() * 1000000000) }' |
		busybox sort | md5sum >"/tmp/sorted.$sorts" &
	sorts=$((sorts - 1))
done
workload sdm --seed "$seed" "$@" --keep
wait
cat /tmp/sorted.* | md5sum
free | sed -n '/Swap/p'
