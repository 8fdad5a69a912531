/*
 * split.pml — a bucket is split while its items are read and deleted without a lock.
 *
 * Models     split_next and finish_split of index_resize.c, lard_index_delete of index.c, find of lookup.c, and answer
 *            of get.c for a process that knows an older count; on C11's memory (weak.pml). The splitter may die at any
 *            store; the next owner of the lock repairs, splits again where nothing was published, and stores.
 * Left out   other items than one that goes to the new bucket; the record behind the slot (read.pml); pages and the
 *            epoch.
 * Asserts    no read finds what was deleted or replaced before it began; none misses an item that nobody deletes; in
 *            the end the item is in one place, and in none where it was deleted.
 * Bounds     DELETERS, READERS that read once, DEATHS of owners, STORES of a new version after the split.
 *
 * quick: DELETERS=1 READERS=0 DEATHS=1 STORES=0
 * full:  DELETERS=1 READERS=0 DEATHS=1 STORES=1
 * full:  DELETERS=1 READERS=1 DEATHS=0 STORES=0
 * full:  DELETERS=0 READERS=2 DEATHS=0 STORES=0
 *
 * mutation NO_SOURCE DELETERS=1 READERS=1 DEATHS=0: a delete does not look at the bucket that is being split, once the new count is published
 * mutation NO_TARGET: a delete does not look at the bucket that is being filled
 * mutation NO_SECOND_PASS: a delete does not look again where a split began or ended meanwhile
 * mutation NO_ANNOUNCEMENT: the splitter does not say which bucket it splits
 * mutation NO_SECOND_LOOK: the splitter does not look again at what it copied
 * mutation NO_FENCE_COPY: the splitter may look again before it is seen to split
 * mutation NO_FENCE_DELETER: a deleter may look for splits before its delete is seen
 * mutation NO_FENCE_BETWEEN: a deleter may look at the copy before its delete of the original is seen
 * mutation RELAXED_RECHECK: a deleter that sees the end of a split need not see the new count
 * mutation NO_COUNT_CHECK DELETERS=0 READERS=1 DEATHS=0: a reader that found nothing does not look whether the index has grown
 * mutation NO_UNDO: what a dead splitter left is not finished
 */
#ifndef DELETERS
#define DELETERS 1
#endif
#ifndef READERS
#define READERS 1
#endif
#ifndef DEATHS
#define DEATHS 1
#endif
#ifndef STORES
#define STORES 0
#endif

#define FROM 0
#define TO 1
#define COUNT 2 /* 1: the new bucket is published */
#define SPLITTING 3
#define LOCATIONS 4
#define MESSAGES (5 + DEATHS * 3 + STORES)
#define ACTORS (DELETERS + READERS + 1)
#define OWNER (DELETERS + READERS)

#include "weak.pml"
#include "item.pml"

byte deaths, running;

#define OR_DIE :: atomic { deaths < DEATHS -> deaths++; goto repair }

proctype Owner() {
    byte value, copied, was;
    bool did;
split:
#ifndef NO_ANNOUNCEMENT
    if
    :: store_release(OWNER, SPLITTING, 1)
    OR_DIE
    fi;
#endif
#ifndef NO_FENCE_COPY
    fence_full(OWNER);
#endif
    load_relaxed(OWNER, FROM, value);
    if
    :: atomic {
        store_relaxed(OWNER, TO, value);
        copied = value;
        value = 0
    }
    OR_DIE
    fi;
#ifndef NO_FENCE_COPY
    fence_full(OWNER);
#endif
    if
    :: copied != 0 ->
#ifndef NO_SECOND_LOOK
        load_relaxed(OWNER, FROM, value);
        if
        :: !SAME(value, copied) ->
            if
            :: replace_slot(OWNER, TO, copied, 0, did)
            OR_DIE
            fi
        :: else
        fi
#endif
    :: else
    fi;
    if
    :: store_release(OWNER, COUNT, 1)
    OR_DIE
    fi;
    fence_full(OWNER);
    if
    :: copied != 0 ->
        if
        :: replace_slot(OWNER, FROM, copied, 0, did)
        OR_DIE
        fi;
        if
        :: !did ->
            if
            :: replace_slot(OWNER, TO, copied, 0, did)
            OR_DIE
            fi
        :: else
        fi
    :: else
    fi;
    if
    :: store_release(OWNER, SPLITTING, 0)
    OR_DIE
    fi;
    goto then;
repair: /* by the next owner: all that the dead one did is there to see */
    atomic {
        value = 0;
        copied = 0;
        did = false
    }
#ifndef NO_UNDO
    if
    :: NEWEST(SPLITTING) == 1 && NEWEST(COUNT) == 0 ->
        if
        :: store_relaxed(OWNER, TO, 0)
        OR_DIE
        fi
    :: NEWEST(SPLITTING) == 1 && NEWEST(COUNT) == 1 ->
        load_relaxed(OWNER, FROM, value);
        if
        :: value != 0 ->
            if
            :: replace_slot(OWNER, FROM, value, 0, did)
            OR_DIE
            fi
        :: else
        fi
    :: else
    fi;
    value = 0;
    if
    :: store_release(OWNER, SPLITTING, 0)
    OR_DIE
    fi;
    if
    :: NEWEST(COUNT) == 0 -> goto split
    :: else
    fi;
#endif
then:
    copied = 0;
#if STORES > 0
    load_acquire(OWNER, TO, value);
    if
    :: value == 0 -> compare(OWNER, TO, 0, ITEM(2), did)
    :: else -> replace_slot(OWNER, TO, value, ITEM(2), did)
    fi;
    if
    :: !did -> compare(OWNER, TO, 0, ITEM(2), did)
    :: else
    fi;
    assert(did);
    end_store(OWNER, 2);
#endif
    running--
}

/* Looks at one slot: `outcome` 1: found `version`, 2: not found, 0: it changed meanwhile. */
inline look(me, slot) {
    load_acquire(me, slot, value);
    if
    :: value == 0 -> outcome = 2
    :: else ->
        fence_acquire(me);
        load_relaxed(me, slot, again);
        if
        :: SAME(again, value) ->
            outcome = 1;
            if
            :: !(value & READ) -> compare(me, slot, value, value | READ, did)
            :: else
            fi
        :: else -> outcome = 0
        fi
    fi
}

proctype Reader(byte me) {
    byte value, again, outcome, count_seen, gone_before, tries;
    bool did, present, knows_old;
    atomic {
        if
        :: knows_old = false
        :: knows_old = true
        fi
    }
    begin_read(me);
    if
    :: knows_old ->
        look(me, FROM);
        if
        :: outcome == 2 ->
            fence_acquire(me);
            load_relaxed(me, COUNT, count_seen);
            if
            :: count_seen != 0 -> outcome = 0
            :: else
            fi
        :: else
        fi
    :: else
    fi;
    do
    :: outcome == 0 && tries < 3 ->
        tries++;
        load_acquire(me, COUNT, count_seen);
        if
        :: count_seen == 0 -> look(me, FROM)
        :: else -> look(me, TO)
        fi;
        if
        :: outcome == 2 ->
            fence_acquire(me);
            load_relaxed(me, COUNT, again);
#ifndef NO_COUNT_CHECK
            if
            :: again != count_seen -> outcome = 0
            :: else
            fi
#endif
        :: else
        fi
    :: else -> break
    od;
    atomic {
        assert(outcome != 1 || VERSION(value) > gone_before);
        assert(outcome != 2 || deletes > 0);
        value = 0;
        again = 0;
        count_seen = 0;
        running--
    }
}

proctype Deleter(byte me) {
    byte value, was, splitting, count_seen, again, last;
    bool did;
    begin_delete(me);
    do
    :: true ->
        load_acquire(me, SPLITTING, splitting);
        load_acquire(me, COUNT, count_seen);
        if
        :: count_seen == 0 -> delete_in_slot(me, FROM)
        :: else -> delete_in_slot(me, TO)
        fi;
#ifndef NO_SOURCE
        if
        :: splitting == 1 && count_seen == 1 -> delete_in_slot(me, FROM)
        :: else
        fi;
#endif
#ifndef NO_TARGET
        if
        :: splitting == 1 && count_seen == 0 ->
#ifndef NO_FENCE_BETWEEN
            fence_full(me);
#endif
            delete_in_slot(me, TO)
        :: else
        fi;
#endif
#ifdef NO_SECOND_PASS
        break;
#endif
#ifndef NO_FENCE_DELETER
        fence_full(me);
#endif
#ifdef RELAXED_RECHECK
        load_relaxed(me, SPLITTING, again);
#else
        load_acquire(me, SPLITTING, again);
#endif
        if
        :: again == splitting ->
            load_relaxed(me, COUNT, again);
            if
            :: again == count_seen -> break
            :: else
            fi
        :: else
        fi
    od;
    end_delete(me);
    running--
}

/* When all have ended. */
proctype Judge() {
    atomic {
        running == 0 ->
        assert(NEWEST(FROM) == 0 || NEWEST(TO) == 0);
        assert(NEWEST(COUNT) == 0 || NEWEST(FROM) == 0);
        assert(VERSION(NEWEST(FROM)) == 0 || VERSION(NEWEST(FROM)) > gone);
        assert(VERSION(NEWEST(TO)) == 0 || VERSION(NEWEST(TO)) > gone);
        assert(deletes > 0 || NEWEST(FROM) != 0 || NEWEST(TO) != 0)
    }
}

init {
    byte i;
    atomic {
        initial(FROM, ITEM(1));
        initial(TO, 0);
        initial(COUNT, 0);
        initial(SPLITTING, 0);
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
