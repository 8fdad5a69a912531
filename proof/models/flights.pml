/*
 * flights.pml — the value of a key that one of several machines computes while others change the key.
 *
 * Models     fly_far, write_far_leased and give_up_far of remote_flight.rb, and delete_multi of remote.rb: the lease and
 *            the value are entries of the remote store, of which each command is atomic.
 * Left out   copies; values that are kept when they have expired, which the owner replaces; an owner that is killed
 *            between its write and its second look for the lease.
 * Numbers    the source from which a value is computed gets the next number, then the cache is told by a delete or write.
 * Asserts    an owner does not store what was computed before a delete that had been answered when its block ended; when
 *            no owner is at work, the value is of the source that the last answered change has told of, or later.
 * Bounds     OWNERS machines with one flight each, which may end before any step that is not left out; CHANGES by another
 *            machine; ENDED leases that end by themselves. STEPS: a delete is two commands, the lease's first.
 *
 * quick: OWNERS=2 CHANGES=2
 * quick: OWNERS=2 CHANGES=2 STEPS=1
 * full:  OWNERS=3 CHANGES=3 ENDED=2
 * full:  OWNERS=3 CHANGES=2 ENDED=2 STEPS=1
 *
 * mutation DELETE_LEAVES_LEASE: a delete is of the value alone
 * mutation VALUE_FIRST STEPS=1: a delete of two commands deletes the value first
 * mutation NO_LOOK_BEFORE: the owner writes without looking for its lease
 * mutation NO_LOOK_AFTER: the owner does not look for its lease when it has written
 * mutation REPLACES: the owner replaces what another caller has written
 */
#ifndef OWNERS
#define OWNERS 2
#endif
#ifndef CHANGES
#define CHANGES 2
#endif
#ifndef ENDED
#define ENDED 1
#endif
#ifndef STEPS
#define STEPS 0
#endif

byte source = 1; /* its number */
byte told = 1;   /* the number that the last answered change has told of */
byte deleted;    /* the same of the last delete */
byte value;      /* the number of the source that it was computed from; 0: none */
byte lease;      /* its owner; 0: none */
byte flying;     /* owners at work */

inline may_end() {
    if
    :: skip
    :: goto ended
    fi
}

proctype Owner(byte me) {
    byte mine, answered;
    bool holds, stored;

    atomic {
        if
        :: lease == 0 -> lease = me; flying++
        :: skip -> goto away
        fi
    }
    may_end();
    atomic {
        if
        :: value -> goto look
        :: else
        fi
    }
    mine = source;
    may_end();
    atomic { answered = deleted; holds = true }
#ifndef NO_LOOK_BEFORE
    holds = (lease == me);
#endif
    may_end();
    atomic {
        if
#ifdef REPLACES
        :: holds ->
#else
        :: holds && value == 0 ->
#endif
            value = mine;
            stored = true;
            assert(mine >= answered)
        :: else
        fi
    }
look:
#ifdef NO_LOOK_AFTER
    stored = false;
#endif
    holds = (lease == me);
    if
    :: holds -> lease = 0
    :: !holds && stored -> atomic { lease = 0; value = 0 }
    :: else
    fi;
ended:
    flying--;
away:
    skip
}

proctype Changes() {
    byte changes;
end:
    do
    :: changes < CHANGES ->
        changes++;
        source++;
        if
        :: value = source
        :: true ->
#ifdef DELETE_LEAVES_LEASE
            value = 0;
#else
#if STEPS
#ifdef VALUE_FIRST
            value = 0;
            lease = 0;
#else
            lease = 0;
            value = 0;
#endif
#else
            atomic { lease = 0; value = 0 }
#endif
#endif
            deleted = source
        fi;
        told = source
    :: else -> break
    od
}

/* Leases that end. */
proctype World() {
    byte ends;
end:
    do
    :: atomic { ends < ENDED && lease -> ends++; lease = 0 }
    od
}

proctype Reader() {
end:
    do
    :: atomic { flying == 0 -> assert(value == 0 || value >= told) }
    od
}

init {
    byte number;
    atomic {
        do
        :: number < OWNERS -> run Owner(number + 1); number++
        :: else -> break
        od;
        number = 0;
        run Changes();
        run World();
        run Reader()
    }
}
