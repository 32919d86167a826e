# Lever's load: workload sdm on a file system that is mounted "noatime", as the papers' were. The files stay, so that the
# caches at the end are as the load left them.
# Usage: scripts.sh [OPTION OF workload sdm...]
set -e
mount -o remount,noatime /
exec workload sdm "$@" --keep
