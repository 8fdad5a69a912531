#!/bin/sh
# Runs each test program given; says which failed, and fails if one did.
failed=0
for program in "$@"; do
    "$program" || { echo "FAILED: $program"; failed=1; }
done
exit $failed
