/*
 * flights.pml — the value of a key that one of several machines computes while others change the key.
 *
 * Models     take, take_over, write and give_up of lib/larder/store/remote_lease/steps.rb, the beats of
 *            lib/larder/remote/heartbeat.rb, and delete_multi of remote/client.rb: lease, heir and value are entries of the
 *            remote store. Each of its commands is atomic. A script (remote_lease/scripts.rb) does the commands of one
 *            method as a single one: its runs are those of this model in which no other process comes between.
 * Left out   copies; an owner that is killed between its write and its second look for the lease; for how long an owner
 *            was silent. Here it may count as dead at any moment and go on, as an owner that was stopped does.
 * Numbers    the source of the value gets the next number, then a delete or a write tells the cache.
 * Asserts    an owner does not store what was computed before a delete that had been answered when its block ended; when
 *            no owner is at work, the value is of the source that the last answered change has told of, or later. One
 *            of several callers that find an owner dead takes its lease over.
 * Bounds     OWNERS machines with one flight each, which may end before any step that is not left out; CHANGES by another
 *            machine; ENDED leases that end by themselves; TAKEOVERS=1: owners may count as dead. STEPS: a delete is two
 *            commands, the lease's first. OLD=1: there is an expired value, which an owner replaces if it still finds
 *            it. It may also replace a write that comes between this look and its own write (`replaced`).
 *
 * quick: OWNERS=2 CHANGES=2
 * quick: OWNERS=2 CHANGES=2 STEPS=1
 * quick: OWNERS=2 CHANGES=1 OLD=1
 * full:  OWNERS=3 CHANGES=2 TAKEOVERS=0
 * full:  OWNERS=3 CHANGES=2 STEPS=1 TAKEOVERS=0
 * full:  OWNERS=3 CHANGES=1 ENDED=0
 * full:  OWNERS=3 CHANGES=1 ENDED=0 OLD=1
 * full:  OWNERS=2 CHANGES=2 OLD=1
 *
 * mutation DELETE_LEAVES_LEASE: a delete is of the value alone
 * mutation VALUE_FIRST STEPS=1: a delete of two commands deletes the value first
 * mutation NO_LOOK_BEFORE: the owner writes without looking for its lease
 * mutation NO_LOOK_AFTER: the owner does not look for its lease when it has written
 * mutation REPLACES: the owner replaces what another caller has written
 * mutation ANY_LEASE: an owner that was stopped takes the lease of the caller that followed it for its own
 * mutation BEAT_WRITES_LEASE: an owner that is alive writes its lease again, if it was there
 * mutation NO_HEIR OWNERS=3 CHANGES=0 ENDED=0: callers that find a dead owner replace its lease without an heir's entry
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
#ifndef TAKEOVERS
#define TAKEOVERS 1
#endif
#ifndef OLD
#define OLD 0
#endif

byte source = 1; /* its number */
byte told = 1;   /* the number that the last answered change has told of */
byte deleted;    /* the same of the last delete */
byte value = OLD; /* the number of the source that it was computed from; 0: none */
bool expired = OLD;
byte lease;      /* its owner; 0: none */
byte heirs[OWNERS + 1]; /* of the lease of each owner; 0: none */
byte takers[OWNERS + 1];
byte flying;     /* owners at work */
bool replaced;   /* an owner has replaced what was written after its look for the old value */

inline may_end() {
    if
    :: skip
    :: goto ended
    fi
}

proctype Owner(byte me) {
    byte mine, answered, held, old;
    bool holds, stored, looked;

    atomic {
        if
        :: lease == 0 -> lease = me; flying++
        :: lease && TAKEOVERS -> held = lease; flying++ /* it counts as dead */
        :: skip -> goto away
        fi
    }
    if
    :: held ->
#ifndef NO_HEIR
        atomic {
            if
            :: heirs[held] -> goto ended
            :: else -> heirs[held] = me
            fi
        }
#endif
        may_end();
        if
        :: lease != held -> goto ended
        :: else
        fi;
        atomic { lease = me; takers[held]++; assert(takers[held] == 1); held = 0 }
    :: else
    fi;
    may_end();
    atomic {
        if
        :: value && !expired -> goto look
        :: else -> old = value
        fi
    }
    mine = source;
    may_end();
#ifdef BEAT_WRITES_LEASE
    holds = (lease == me);
    if
    :: holds -> lease = me
    :: else
    fi;
#endif
    atomic { answered = deleted; holds = true }
#ifndef NO_LOOK_BEFORE
#ifdef ANY_LEASE
    holds = (lease != 0);
#else
    holds = (lease == me);
#endif
#endif
    may_end();
#ifndef REPLACES
    atomic {
        if
        :: old -> holds = holds && value == old && expired; looked = true
        :: else
        fi
    }
#endif
    atomic {
        if
#ifdef REPLACES
        :: holds ->
#else
        :: holds && (value == 0 || old) ->
#endif
            replaced = replaced || (looked && value && !(value == old && expired));
            value = mine;
            expired = false;
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
    :: !holds && stored -> atomic { lease = 0; value = 0; expired = false }
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
        :: atomic { value = source; expired = false }
        :: true ->
#ifdef DELETE_LEAVES_LEASE
            atomic { value = 0; expired = false }
#else
#if STEPS
#ifdef VALUE_FIRST
            atomic { value = 0; expired = false }
            lease = 0;
#else
            lease = 0;
            atomic { value = 0; expired = false }
#endif
#else
            atomic { lease = 0; value = 0; expired = false }
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
    :: atomic { flying == 0 -> assert(value == 0 || expired || replaced || value >= told) }
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
