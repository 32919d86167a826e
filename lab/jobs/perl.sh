#!/bin/bash
# perl: files, directories, sorting, sockets of no kind, fork and wait, locks, formats.
# packages: bash coreutils perl
. "${0%/*}/common.sh"
cat > t.pl <<'P'
use strict; use warnings; use File::Find; use File::Temp qw(tempdir); use File::Copy; use File::Path qw(make_path remove_tree);
use Fcntl qw(:flock :seek); use POSIX qw(:sys_wait_h); use Digest::SHA qw(sha256_hex); use IO::File; use Cwd;
my %words; find({ wanted => sub { return unless -f && /\.p[ml]$/; open my $f, '<', $_ or die "$_: $!";
	while (<$f>) { $words{lc $1}++ while /([a-z]{4,})/gi } }, no_chdir => 1 }, '/usr/share/perl/5.36.0/File', '/usr/share/perl/5.36.0/Text');
my @top = sort { $words{$b} <=> $words{$a} || $a cmp $b } keys %words;
printf "%-12s %d\n", $_, $words{$_} for @top[0 .. 9];
my $dir = tempdir(DIR => '.', CLEANUP => 1); make_path(map { "$dir/a/$_/b" } 1 .. 50);
open my $counter, '+>', "$dir/counter" or die; print $counter "0\n"; $counter->flush;
for my $child (1 .. 8) { my $pid = fork // die; next if $pid; for (1 .. 50) { open my $c, '+<', "$dir/counter" or die; flock $c, LOCK_EX or die "flock: $!";
	my $n = <$c>; seek $c, 0, SEEK_SET; printf $c "%d\n", $n + 1; close $c } exit 0 }
1 while waitpid(-1, 0) > 0; open $counter, '<', "$dir/counter"; print 'counted ', <$counter>;
copy($0, "$dir/copy") or die; move("$dir/copy", "$dir/a/moved") or die; print sha256_hex(do { local (@ARGV, $/) = "$dir/a/moved"; <> }) eq sha256_hex(do { local (@ARGV, $/) = $0; <> }) ? "same\n" : "different\n";
pipe my $r, my $w; if (!fork) { close $r; print $w "line $_\n" for 1 .. 10000; exit 7 } close $w; my $n = 0; $n++ while <$r>; wait; print "$n lines, status ", $? >> 8, "\n";
local $SIG{ALRM} = sub { die "alarm\n" }; eval { alarm 1; sleep 10; }; print $@; remove_tree("$dir/a"); print -d "$dir/a" ? "there\n" : "gone\n";
P
perl t.pl
{ perl -e 'print join(" ", map { sprintf "%o", (stat $_)[2] } "/tmp", "/etc/passwd"), "\n"; system("exit 5"); print $? >> 8, "\n"; print `echo back`; kill 9, $$' || echo "status $?"; } 2>/dev/null
