#!/bin/sh
# Runs each test program given, with the words of RUN before it (valgrind, an emulator); says which failed, and fails if
# one did.
failed=0
for program in "$@"; do
    $RUN "$program" || { echo "FAILED: $program"; failed=1; }
done
exit $failed
