"""Debian's programs that were built against gdbm's ndbm and dbm, as they come, with our library found before gdbm's: on Linux and on Chainwalk."""

from __future__ import annotations

import pytest

# What each prints is the same with both libraries; the table is left in /root/NAME.pag.
PROGRAMS = {
    # magicrescue's search for files of equal content, which keeps a record for each checksum
    "dupemap": r"""
mkdir tree
for i in $(seq 1 600); do echo "file $((i % 140)) of text" > tree/f$i; done
dupemap -d dupemap scan tree && dupemap -d dupemap report tree | sort
""",
    "ruby": r"""
cat > program.rb <<'END'
require "dbm"
DBM.open("ruby", 0644) do |db|
  2000.times { |i| db["k#{i}"] = "v" * (i % 900) }
  db.delete("k7")
  puts db.length, db["k899"].length, db.key?("k7"), db.values.map(&:length).sum
  db.delete_if { |key, value| value.empty? }
  puts db.length, db.to_hash.keys.sort.first(3), db.invert.length
end
DBM.open("ruby", nil, DBM::READER) do |db|
  puts db.select { |key, value| key.start_with?("k19") }.length
  begin
    db["a"] = "b"
  rescue DBMError, Errno::EPERM  # as Ruby's own tests have it: ndbms differ
    puts "read only"
  end
end
END
ruby program.rb
""",
    "perl": r"""
cat > program.pl <<'END'
use NDBM_File; use Fcntl;
tie(my %h, 'NDBM_File', 'perl', O_RDWR|O_CREAT, 0640) or die "tie: $!";
$h{"k$_"} = "v" x ($_ % 5000) for 1..3000;
delete $h{k5};
die if defined $h{k5};
my ($n, $bytes) = (0, 0);
while (my ($key, $value) = each %h) { $n++; $bytes += length $value }
untie %h;
tie(%h, 'NDBM_File', 'perl', O_RDONLY, 0) or die "tie: $!";
print "$n pairs of $bytes bytes, ", length $h{k2999}, "\n";
END
perl program.pl
""",
    # The dbm of V7, whose files have to be there
    "dbm": r"""
cat > program.pl <<'END'
use ODBM_File; use Fcntl;
open(my $file, '>', $_) for 'dbm.pag', 'dbm.dir';
tie(my %h, 'ODBM_File', 'dbm', O_RDWR, 0640) or die "tie: $!";
$h{"k$_"} = "v" x ($_ % 500) for 1..3000;
delete $h{k5};
my $n = 0;
while (my ($key, $value) = each %h) { $n++; die $key unless length $value == substr($key, 1) % 500 }
untie %h;
print "$n pairs\n";
END
perl program.pl
""",
}
# Each twice, in folders of their own, and what is left by ours is looked at.
EACH = r"""
set -e
mkdir -p /root/gdbm /root/ours
cd /root/gdbm
{program} > ../gdbm.out
cd /root/ours
export LD_LIBRARY_PATH=/ours LD_PRELOAD=/ours/libchainhash_ndbm.so.0
{program} > ../ours.out
unset LD_PRELOAD
cmp ../gdbm.out ../ours.out
test -s ../ours.out
/ours/chainhash verify {name}.pag
if /ours/chainhash verify ../gdbm/{name}.pag; then exit 9; fi
"""


@pytest.mark.parametrize("kernel", ["chainwalk", "linux"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_of_debian_finds_our_functions(cw_run, plain, name, kernel):
    script = EACH.replace("{program}", PROGRAMS[name].strip()).replace("{name}", name)
    files = ["libchainhash.so.0", "libchainhash_ndbm.so.0", "chainhash"]
    packages = {"dupemap": ["magicrescue"], "ruby": ["ruby", "ruby-dbm"]}.get(name, ["perl"])
    result = cw_run(
        script=script, kernel=kernel, packages=packages, add=[f"{plain / one}:/ours/{one}" for one in files], mem="512M"
    )
    assert "nothing is wrong" in result.output.decode()
