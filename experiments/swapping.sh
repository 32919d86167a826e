# Lever's load on a machine that swaps: scripts.sh after a swap file was made on the same disk.
# Usage: swapping.sh MEGABYTES [OPTION OF workload sdm...]
set -e
mount -o remount,noatime /
dd if=/dev/zero of=/swapfile bs=1M count="$1" 2>/dev/null
shift
mkswap /swapfile >/dev/null
swapon /swapfile
workload sdm "$@" --keep
cat /proc/swaps
