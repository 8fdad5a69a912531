/*
 * lock.pml — a shard's lock, whose owner may die at any step, and process slots that are claimed again.
 *
 * Models     try_lock, wait_for_lock, take_over and lard_shard_unlock of shard.c; lard_process_claim and
 *            lard_process_alive of process.c; on C11's memory (weak.pml). The kernel's lock on a slot's byte goes with
 *            its process at once; whoever asks for it hears of all that the dead had done.
 * Left out   the end of a wait for a live owner (BUSY), sleeping and waking (a waiter looks again as soon as anything
 *            it looks at has changed), threads of one process, files that are replaced, a clean detachment,
 *            incarnations that go round (after 524,288 claims of a slot).
 * Asserts    no two living processes have the lock; who has it finds what the one before left, or has repaired it;
 *            no waiter waits for ever.
 * Bounds     PROCESSES, each of which takes the lock ROUNDS times and then stays; SLOTS, so that one waits for a dead
 *            one's slot where there are fewer; DEATHS.
 *
 * quick: PROCESSES=3 SLOTS=2 ROUNDS=1 DEATHS=1
 * full:  PROCESSES=3 SLOTS=2 ROUNDS=1 DEATHS=2
 * full:  PROCESSES=3 SLOTS=3 ROUNDS=1 DEATHS=2
 * full:  PROCESSES=2 SLOTS=2 ROUNDS=3 DEATHS=2
 *
 * mutation NO_INCARNATION PROCESSES=3 SLOTS=2 ROUNDS=1 DEATHS=1: who has the dead owner's slot now is taken for the owner
 * mutation NO_RAISE PROCESSES=3 SLOTS=2 ROUNDS=1 DEATHS=1: a claim does not raise the incarnation
 * mutation RAISE_FIRST PROCESSES=3 SLOTS=2 ROUNDS=1 DEATHS=0: a claim raises the incarnation before the slot is its own
 * mutation NO_ACQUIRE PROCESSES=3 SLOTS=3 DEATHS=0: a waiter may see the owner's word before the owner's incarnation
 * mutation RELAXED_INCARNATION PROCESSES=3 SLOTS=2 ROUNDS=1 DEATHS=1: who finds the slot claimed again need not see what the dead owner did
 * mutation NO_PROBE: an owner that lets others wait is taken for dead
 * mutation TAKE_BY_STORE PROCESSES=3 SLOTS=3 ROUNDS=1 DEATHS=1: two waiters may both take over from a dead owner
 * mutation NO_REPAIR: the new owner goes on with what the dead one left half-way
 * mutation RELAXED_UNLOCK: what was done under the lock may be seen after it is free
 */
#ifndef PROCESSES
#define PROCESSES 2
#endif
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#ifndef DEATHS
#define DEATHS 1
#endif

#define LOCK 0
#define ONE 1 /* two words that are equal whenever the lock is free */
#define OTHER 2
#define INCARNATION(slot) (3 + (slot))
#define LOCATIONS (3 + SLOTS)
#define MESSAGES (PROCESSES * ROUNDS * 3 + DEATHS + 1)
#define ACTORS PROCESSES
#define MODEL_VIEWS SLOTS
#define KERNEL(slot) (MORE_VIEWS + (slot))

#include "weak.pml"

/* The lock word: who, and whether others wait; 0: free. */
#define WORD(slot, incarnation) (2 * (1 + (slot) + SLOTS * (incarnation)))
#define WAITERS 1
#define SLOT_OF(word) (((word) / 2 - 1) % SLOTS)
#define INCARNATION_OF(word) (((word) / 2 - 1) / SLOTS)

byte byte_of[SLOTS]; /* the kernel's lock on a slot's byte: process + 1, 0: nobody's */
byte deaths, inside; /* living processes that have the lock */

#define OR_DIE :: atomic { deaths < DEATHS -> deaths++; goto dead }
#define OR_DIE_INSIDE :: atomic { deaths < DEATHS -> deaths++; inside--; goto dead }

/* Is the owner that the word names alive? */
inline probe(me) {
#ifdef NO_PROBE
    alive = false;
#else
#ifdef RELAXED_INCARNATION
    load_relaxed(me, INCARNATION(SLOT_OF(word)), seen);
#else
    load_acquire(me, INCARNATION(SLOT_OF(word)), seen);
#endif
    atomic {
        if
#ifndef NO_INCARNATION
        :: seen != INCARNATION_OF(word) -> alive = false
        :: seen == INCARNATION_OF(word) && SLOT_OF(word) == slot -> alive = true
        :: seen == INCARNATION_OF(word) && SLOT_OF(word) != slot ->
#else
        :: SLOT_OF(word) == slot -> alive = true
        :: SLOT_OF(word) != slot ->
#endif
            alive = (byte_of[SLOT_OF(word)] != 0);
            if
            :: !alive ->
                join(NOW(me), KERNEL(SLOT_OF(word)));
                join(COULD(me), NOW(me))
            :: else
            fi
        fi;
        seen = 0
    }
#endif
}

proctype Process(byte me) {
    byte slot, own, word, seen, one, other, rounds;
    bool did, alive;

#ifdef RAISE_FIRST
    atomic {
        if
        :: slot = 0
        :: slot = 1
        fi
    }
    load_relaxed(me, INCARNATION(slot), seen);
    store_release(me, INCARNATION(slot), seen + 1);
end_taken:
    atomic {
        byte_of[slot] == 0 -> byte_of[slot] = me + 1;
        join(NOW(me), KERNEL(slot));
        join(COULD(me), NOW(me));
        own = WORD(slot, seen + 1);
        seen = 0
    }
#else
end_no_slot:
    atomic {
        if
        :: byte_of[0] == 0 -> slot = 0
        :: byte_of[1] == 0 -> slot = 1
#if SLOTS > 2
        :: byte_of[2] == 0 -> slot = 2
#endif
        fi;
        byte_of[slot] = me + 1;
        join(NOW(me), KERNEL(slot));
        join(COULD(me), NOW(me))
    }
    load_relaxed(me, INCARNATION(slot), seen);
#ifndef NO_RAISE
    if
    :: store_release(me, INCARNATION(slot), seen + 1)
    OR_DIE
    fi;
    seen++;
#endif
    atomic {
        own = WORD(slot, seen);
        seen = 0
    }
#endif

    do
    :: rounds < ROUNDS ->
        rounds++;
        compare(me, LOCK, 0, own, did);
        if
        :: did -> goto had
        :: else
        fi;
    wait:
#ifdef NO_ACQUIRE
        load_relaxed(me, LOCK, word);
#else
        load_acquire(me, LOCK, word);
#endif
        if
        :: word == 0 ->
            compare(me, LOCK, 0, own | WAITERS, did);
            if
            :: did -> goto had
            :: else -> goto wait
            fi
        :: else
        fi;
        if
        :: !(word & WAITERS) ->
            compare(me, LOCK, word, word | WAITERS, did);
            if
            :: did -> word = word | WAITERS
            :: else -> goto wait
            fi
        :: else
        fi;
        load_relaxed(me, LOCK, seen);
        if
        :: seen != word -> goto wait
        :: else
        fi;
        probe(me);
        if
        :: alive -> /* asleep, until there is something new to see */
            (NEWEST(LOCK) != word || (byte_of[SLOT_OF(word)] == 0 && SLOT_OF(word) != slot)
#ifndef NO_INCARNATION
            || NEWEST(INCARNATION(SLOT_OF(word))) != INCARNATION_OF(word)
#endif
            );
            goto wait
        :: else
        fi;
#ifdef TAKE_BY_STORE
        swap(me, LOCK, own | WAITERS);
#else
        compare(me, LOCK, word, own | WAITERS, did);
        if
        :: !did -> goto wait
        :: else
        fi;
#endif
        atomic {
            inside++;
            assert(inside == 1)
        }
#ifndef NO_REPAIR
        load_relaxed(me, ONE, one);
        if
        :: store_relaxed(me, OTHER, one)
        OR_DIE_INSIDE
        fi;
#endif
        goto work;
    had:
        atomic {
            inside++;
            assert(inside == 1)
        }
    work:
        load_relaxed(me, ONE, one);
        load_relaxed(me, OTHER, other);
        atomic {
            assert(one == NEWEST(ONE));
            assert(one == other);
            word = 0;
            seen = 0;
            other = 0
        }
        if
        :: store_relaxed(me, ONE, one + 1)
        OR_DIE_INSIDE
        fi;
        if
        :: store_relaxed(me, OTHER, one + 1)
        OR_DIE_INSIDE
        fi;
        if
        :: atomic {
            inside--;
#ifdef RELAXED_UNLOCK
            store_relaxed(me, LOCK, 0);
#else
            swap(me, LOCK, 0); /* compare-and-swap from its own word, which nothing but a waiter's mark has changed */
#endif
            one = 0
        }
        OR_DIE_INSIDE
        fi
    :: else -> break
    od;
    goto stays;
dead:
    atomic {
        join(KERNEL(slot), NOW(me));
        byte_of[slot] = 0;
        own = 0;
        word = 0;
        seen = 0;
        one = 0;
        other = 0
    }
stays:
    skip
}

init {
    byte i;
    atomic {
        do
        :: i < LOCATIONS ->
            initial(i, 0);
            i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < PROCESSES ->
            run Process(i);
            i++
        :: else -> break
        od
    }
}
