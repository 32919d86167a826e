# What every job begins with: nothing of the clock, the user's language or the machine's name in what it prints.
set -eu
export PATH=/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin LC_ALL=C TZ=UTC TERM=dumb
umask 022
work=${WORK:-/work}
export HOME="$work-home" # jobs run beside each other
mkdir -p "$work" "$HOME"
cd "$work"

# The whole of a tree: type, mode, owner, links, size, name; then the contents' checksums.
tree_of() {
	(cd "$1" && find . -not -type d -printf '%y %m %U:%G %n %s %p %l\n' | sort -k6 &&
		find . -type d -printf 'd %m %U:%G %p\n' | sort -k4 &&
		find . -type f -print0 | sort -z | xargs -0 -r sha256sum)
}
