#!/bin/sh
# Runs a test program under valgrind's memcheck, its children included. Fails where one touches memory it must not, uses
# bytes that nobody wrote, or has lost memory at its end, and where the program itself ends with a cache's file open.
# Children may: they end in the middle of things.
reports=$(mktemp -d) || exit 2
valgrind --vex-iropt-register-updates=allregs-at-mem-access --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,indirect \
    --errors-for-leak-kinds=definite,indirect --track-fds=yes --fair-sched=try --log-file="$reports/%p" "$@" &
program=$!
wait $program
status=$?
if grep -E "Open file descriptor [0-9]+: .*larder" "$reports/$program"; then
    echo "memcheck: left open"
    status=99
fi
[ $status = 0 ] || grep -LE "ERROR SUMMARY: 0 errors" "$reports"/* | xargs -r cat
rm -rf "$reports"
exit $status
