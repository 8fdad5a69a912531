#!/bin/sh
# Builds the engine with a compiler for a machine that it does not run on: that must fail, with the message that says
# why. usage: refused.sh COMPILER MESSAGE
directory=$(mktemp -d) || exit 2
output=$(make -k -C "$(dirname "$0")/../../engine" all "CC=$1" "BUILD=$directory" 2>&1)
status=$?
rm -rf "$directory"
if [ "$status" != 0 ] && echo "$output" | grep -q "error: #error .*$2"; then
    echo "1 passed, 0 failed"
else
    echo "$output" | tail -n 40
    echo "$1 was to be refused with \"$2\""
    echo "0 passed, 1 failed"
    exit 1
fi
