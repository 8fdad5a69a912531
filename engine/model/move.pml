/*
 * move.pml — an item moves between its two buckets while it is read, deleted and stored.
 *
 * Models     move and lard_index_resize_finish of index_resize.c, lard_index_delete and lard_index_insert of index.c, find
 *            of lookup.c, publish of write.c; on C11's memory (weak.pml). The mover may die at any store; the next owner
 *            of the lock repairs and goes on.
 * Left out   other items; the record behind the slot (read.pml); splits (split.pml).
 * Asserts    no read finds what was deleted or replaced before it began; none that went to its end misses an item that
 *            nobody deletes; in the end the item is in one place and not pending, or in none where it was deleted.
 * Bounds     MOVES to and fro, STORES of a new version, DELETERS, READERS with TRIES each, DEATHS.
 *
 * quick: MOVES=1 STORES=0 DELETERS=1 READERS=0 DEATHS=1
 * quick: MOVES=1 STORES=0 DELETERS=0 READERS=1 DEATHS=0
 * full:  MOVES=1 STORES=1 DELETERS=1 READERS=0 DEATHS=1
 * full:  MOVES=1 STORES=0 DELETERS=1 READERS=1 DEATHS=0
 * full:  MOVES=2 STORES=0 DELETERS=0 READERS=1 DEATHS=0
 * full:  MOVES=1 STORES=0 DELETERS=2 READERS=0 DEATHS=0
 *
 * mutation NO_MOVES_CHECK MOVES=1 DELETERS=0 READERS=1 DEATHS=0: a reader that found nothing does not look whether an item was on its way
 * mutation NO_PENDING: the item stands in the new bucket like any other while it still stands in the old one
 * mutation SKIP_PENDING: a delete passes pending slots by, as readers do
 * mutation NO_SECOND_PASS: a delete does not look again where items moved meanwhile
 * mutation NO_FENCE_DELETER: a deleter may look for moves before its own looks
 * mutation BLIND_MOVE: the mover takes the mark off the new slot whether or not the original was still there
 * mutation NO_UNDO: what a dead mover left is not finished
 * mutation LATE_ODD MOVES=1 DELETERS=0 READERS=1 DEATHS=0: the count of moves is raised when the move is over, not before
 */
#ifndef MOVES
#define MOVES 1
#endif
#ifndef STORES
#define STORES 0
#endif
#ifndef DELETERS
#define DELETERS 1
#endif
#ifndef READERS
#define READERS 0
#endif
#ifndef DEATHS
#define DEATHS 0
#endif
#define TRIES 2

#define ONE 0 /* the slot of the first bucket, and of the second */
#define OTHER 1
#define MOVED 2 /* odd while an item changes buckets */
#define LOCATIONS 3
#define MESSAGES (4 * MOVES + 2 * STORES + 2 * READERS + 3 * DEATHS + 2)
#define ACTORS (DELETERS + READERS + 1)
#define OWNER (DELETERS + READERS)

#include "weak.pml"
#include "item.pml"

byte deaths, running;

#define OR_DIE :: atomic { deaths < DEATHS -> deaths++; goto repair }

proctype Owner() {
    byte value, was, from, pending, replacement, moves, stores, number;
    bool did, leaves;
next:
    do
    :: moves < MOVES && (NEWEST(ONE) != 0 || NEWEST(OTHER) != 0) ->
        atomic {
            moves++;
            from = (NEWEST(ONE) != 0 -> ONE : OTHER);
            value = NEWEST(from)
        }
        if
        :: value == 0 -> goto next
        :: else
        fi;
#ifdef NO_PENDING
        pending = value;
#else
        pending = value | PENDING;
#endif
        if
        :: compare(OWNER, 1 - from, 0, pending, did)
        OR_DIE
        fi;
        number = NEWEST(MOVED);
#ifndef LATE_ODD
        if
        :: store_release(OWNER, MOVED, (number + 1) | 1)
        OR_DIE
        fi;
        fence_full(OWNER);
#endif
        if
        :: replace_slot(OWNER, from, value, pending, leaves)
        OR_DIE
        fi;
#ifdef BLIND_MOVE
        leaves = true;
#endif
        replacement = (leaves -> value : 0);
        if
        :: replace_slot(OWNER, 1 - from, pending, replacement, did)
        OR_DIE
        fi;
        if
        :: leaves ->
            if
            :: replace_slot(OWNER, from, pending, 0, did)
            OR_DIE
            fi
        :: else
        fi;
        if
        :: store_release(OWNER, MOVED, ((number + 1) | 1) + 1)
        OR_DIE
        fi;
        atomic {
            value = 0;
            pending = 0;
            number = 0;
            from = 0;
            leaves = false;
            replacement = 0;
            did = false
        }
    :: stores < STORES ->
        stores++;
        did = false;
        do
        :: !did ->
            if
            :: NEWEST(ONE) != 0 ->
                value = NEWEST(ONE);
                if
                :: value != 0 -> replace_slot(OWNER, ONE, value, ITEM(1 + stores), did)
                :: else
                fi
            :: NEWEST(ONE) == 0 && NEWEST(OTHER) != 0 ->
                value = NEWEST(OTHER);
                if
                :: value != 0 -> replace_slot(OWNER, OTHER, value, ITEM(1 + stores), did)
                :: else
                fi
            :: NEWEST(ONE) == 0 && NEWEST(OTHER) == 0 -> compare(OWNER, ONE, 0, ITEM(1 + stores), did)
            fi
        :: else -> break
        od;
        value = 0;
        did = false;
        end_store(OWNER, 1 + stores)
    :: else -> break
    od;
    goto ended;
repair:
    atomic {
        value = 0;
        pending = 0;
        number = 0;
        from = 0;
        leaves = false;
        replacement = 0;
        did = false
    }
#ifndef NO_UNDO
    if
    :: NEWEST(ONE) & PENDING ->
        value = NEWEST(ONE);
        replacement = (SAME(NEWEST(OTHER), value) -> value & (PENDING - 1) : 0);
        if
        :: value & PENDING ->
            if
            :: replace_slot(OWNER, ONE, value, replacement, did)
            OR_DIE
            fi
        :: else
        fi
    :: else
    fi;
    if
    :: NEWEST(OTHER) & PENDING ->
        value = NEWEST(OTHER);
        if
        :: value & PENDING ->
            if
            :: replace_slot(OWNER, OTHER, value, 0, did)
            OR_DIE
            fi
        :: else
        fi
    :: else
    fi;
    replacement = 0;
    value = 0;
    did = false;
    store_release(OWNER, MOVED, (NEWEST(MOVED) | 1) + 1);
#endif
    goto next;
ended:
    running--
}

/* One slot of find: `outcome` 1: found, 3: changed, else as before. */
inline look(me, slot) {
    load_acquire(me, slot, value);
    if
    :: value == 0 || outcome != 2
    :: value != 0 && outcome == 2 && (value & PENDING) ->
        fence_acquire(me);
        load_relaxed(me, slot, again);
        if
        :: SAME(again, value)
        :: else -> outcome = 3
        fi
    :: value != 0 && outcome == 2 && !(value & PENDING) ->
        fence_acquire(me);
        load_relaxed(me, slot, again);
        if
        :: SAME(again, value) ->
            outcome = 1;
            found = value;
            if
            :: !(value & READ) -> compare(me, slot, value, value | READ, did)
            :: else
            fi
        :: else -> outcome = 3
        fi
    fi
}

proctype Reader(byte me) {
    byte value, again, found, outcome, moves, gone_before, tries;
    bool did;
    begin_read(me);
    outcome = 3;
    do
    :: outcome == 3 && tries < TRIES ->
        tries++;
        outcome = 2;
        load_acquire(me, MOVED, moves);
        look(me, ONE);
        look(me, OTHER);
        if
        :: outcome == 2 ->
            fence_acquire(me);
            load_relaxed(me, MOVED, again);
#ifndef NO_MOVES_CHECK
            if
            :: (moves & 1) || again != moves -> outcome = 3
            :: else
            fi
#endif
        :: else
        fi
    :: else -> break
    od;
    atomic {
        assert(outcome != 1 || VERSION(found) > gone_before);
        assert(outcome != 2 || deletes > 0);
        value = 0;
        again = 0;
        moves = 0;
        running--
    }
}

/* As delete_in_slot of item.pml, but for the mutation. */
inline delete_here(me, slot) {
#ifdef SKIP_PENDING
    load_acquire(me, slot, value);
    if
    :: value & PENDING -> value = 0
    :: else -> delete_in_slot(me, slot)
    fi
#else
    delete_in_slot(me, slot)
#endif
}

proctype Deleter(byte me) {
    byte value, was, moves, again, last;
    bool did;
    begin_delete(me);
    do
    :: true ->
        load_acquire(me, MOVED, moves);
        delete_here(me, ONE);
        delete_here(me, OTHER);
#ifdef NO_SECOND_PASS
        break;
#endif
#ifndef NO_FENCE_DELETER
        fence_full(me);
#endif
        load_relaxed(me, MOVED, again);
        if
        :: again == moves -> break
        :: else
        fi
    od;
    skip;
    end_delete(me);
    running--
}

proctype Judge() {
    atomic {
        running == 0 ->
        assert(NEWEST(ONE) == 0 || NEWEST(OTHER) == 0);
        assert(!(NEWEST(ONE) & PENDING) && !(NEWEST(OTHER) & PENDING));
        assert(NEWEST(ONE) == 0 || VERSION(NEWEST(ONE)) > gone);
        assert(NEWEST(OTHER) == 0 || VERSION(NEWEST(OTHER)) > gone);
        assert(deletes > 0 || NEWEST(ONE) != 0 || NEWEST(OTHER) != 0)
    }
}

init {
    byte i;
    atomic {
        initial(ONE, ITEM(1));
        initial(OTHER, 0);
        initial(MOVED, 0);
        stored = 1;
        running = DELETERS + READERS + 1;
        run Owner();
        run Judge();
        do
        :: i < DELETERS ->
            run Deleter(i);
            i++
        :: else -> break
        od;
        do
        :: i < DELETERS + READERS ->
            run Reader(i);
            i++
        :: else -> break
        od
    }
}
