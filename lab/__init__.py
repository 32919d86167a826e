"""The laboratory around the kernel: a package for each thing a user does. ./cw and make are its doors.

Who stands on whom: a package imports, inside functions too, from those in its row and from no others, and no modules
import each other in a circle (lab/check/imports.py holds it to that).

    package    stands on
    base       -
    build      base
    guest      base build
    run        base build guest
    measure    base build guest run
    record     base build run
    playground base build
    course     base
    grade      base build course guest record run
    compare    base guest run
    sweep      base build guest run measure
    report     base build run sweep
    kept       base build run sweep report
    check      base build guest run
    book       base
    cli        everything

base is what all stand on; build, guest and run make a machine: its kernel, its files, itself. measure, record, compare
ask it something, playground shows what was recorded, course hands labs out and grade judges what is handed in, sweep asks
it over and over, report says what came of that, kept has the full runs that stay with the source, check asks whether all
holds. book makes docs/ a site.
jobs/ is no package: the scripts of real programs at work that guest/jobs.py gives to machines.
"""
