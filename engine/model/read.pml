/*
 * read.pml — a reader copies a record without a lock while its segment is recycled, and finds out.
 *
 * Models     answer of get.c and lookup of lookup.c; delete_in_slot of index.c; publish of write.c; lard_segment_free and
 *            lard_segment_take of segment.c, and move_or_drop of evict.c; on C11's memory (weak.pml). The owner of the lock
 *            may die at any store; the next one writes over what it left unpublished.
 * Left out   the record's checksum, its generation and its length, so that nothing but the slot tells a reader what it
 *            copied; more than one slot (split.pml, move.pml); the epoch of a cleared shard.
 * Asserts    no read answers a torn record, another key's, one that was never published, or one that was deleted or
 *            replaced before the read began; none misses the item unless it was deleted or evicted.
 * Bounds     STORES and EVICTIONS by owners, DELETERS, READERS that read once and begin again at most TRIES times,
 *            DEATHS. Two segments of one record, a record of two words.
 *
 * quick: STORES=2 EVICTIONS=1 DELETERS=0 DEATHS=0
 * full:  STORES=3 EVICTIONS=2 DELETERS=0 DEATHS=1
 * full:  STORES=2 EVICTIONS=1 DELETERS=1 DEATHS=1
 * full:  STORES=1 EVICTIONS=1 DELETERS=1 READERS=2
 *
 * mutation NO_RECHECK: a reader does not look at the slot again
 * mutation NO_GENERATION: the slot does not tell one life of a segment from the next
 * mutation NO_EMPTYING: a segment is written over while a slot still names its record
 * mutation NO_FENCE_READER: a reader may look at the slot again before it has copied
 * mutation NO_FENCE_TAKE: the bytes of a segment may be seen to change before the slot is seen to be emptied
 * mutation RELAXED_PUBLISH: a slot may be seen before its record
 * mutation RELAXED_SLOT: a reader may copy before it has seen the slot
 */
#ifndef STORES
#define STORES 2
#endif
#ifndef EVICTIONS
#define EVICTIONS 1
#endif
#ifndef DELETERS
#define DELETERS 0
#endif
#ifndef READERS
#define READERS 1
#endif
#ifndef DEATHS
#define DEATHS 0
#endif
#define TRIES 2

#define SLOT 0
#define WORD(segment, number) (1 + 2 * (segment) + (number))
#define LOCATIONS 5
#define MESSAGES (STORES + EVICTIONS + DEATHS + DELETERS + 2)
#define ACTORS (DELETERS + READERS + 1)
#define OWNER (DELETERS + READERS)
#define FOREIGN 63 /* a word of another key's record; the key's own hold its version */

#ifdef NO_GENERATION
#define NAMED(segment) (1 + (segment))
#else
#define NAMED(segment) (1 + (segment) + 2 * generation[segment])
#endif
#define SEGMENT_OF(slot) (((slot) - 1) % 2)

#include "weak.pml"

byte gone, stored, published, deletes, evictions, deaths;
byte generation[2];

#define OR_DIE :: atomic { deaths < DEATHS -> deaths++; goto next }

inline overwrite(segment, what) {
#ifndef NO_FENCE_TAKE
    fence_full(OWNER);
#endif
    if
    :: store_relaxed(OWNER, WORD(segment, 0), what)
    OR_DIE
    fi;
    if
    :: store_relaxed(OWNER, WORD(segment, 1), what)
    OR_DIE
    fi
}

proctype Owner() {
    byte target, version, now, stores;
    bool did, taken;
    version = 1;
next:
    do
    :: stores < STORES -> /* to the segment that no slot names, in a new life of it unless a dead owner began that */
        stores++;
        version++;
        atomic {
            if
            :: !taken ->
                target = (NEWEST(SLOT) != 0 -> 1 - SEGMENT_OF(NEWEST(SLOT)) : 1 - target);
                generation[target]++;
                taken = true
            :: else
            fi
        }
        overwrite(target, version);
        did = false;
        do
        :: !did ->
            now = NEWEST(SLOT);
            if
            :: atomic {
#ifdef RELAXED_PUBLISH
                store_relaxed(OWNER, SLOT, NAMED(target));
                did = true;
#else
                compare(OWNER, SLOT, now, NAMED(target), did);
#endif
                if
                :: did ->
                    published = version;
                    taken = false
                :: else
                fi
            }
            OR_DIE
            fi
        :: else -> break
        od;
        skip;
        d_step {
            did = false;
            now = 0;
            stored = version;
            gone = version - 1;
            acknowledge(OWNER)
        }
    :: evictions < EVICTIONS && NEWEST(SLOT) != 0 -> /* the segment that the slot names, for another key's record */
        atomic {
            evictions++;
            now = NEWEST(SLOT);
            if
            :: now == 0 -> goto next /* a deleter was faster */
            :: else -> target = SEGMENT_OF(now)
            fi
        }
#ifdef NO_EMPTYING
        overwrite(target, FOREIGN);
        compare(OWNER, SLOT, now, 0, did);
#else
        if
        :: compare(OWNER, SLOT, now, 0, did)
        OR_DIE
        fi;
        generation[target]++;
        overwrite(target, FOREIGN);
#endif
        did = false;
        now = 0
    :: else -> break
    od
}

proctype Reader(byte me) {
    byte slot, again, one, other, tries, gone_before;
    d_step {
        join(NOW(me), ACKNOWLEDGED);
        join(COULD(me), ACKNOWLEDGED);
        gone_before = gone
    }
    do
    :: tries < TRIES ->
        tries++;
#ifdef RELAXED_SLOT
        load_relaxed(me, SLOT, slot);
#else
        load_acquire(me, SLOT, slot);
#endif
        if
        :: slot == 0 ->
            assert(deletes > 0 || evictions > 0);
            break
        :: else
        fi;
        load_relaxed(me, WORD(SEGMENT_OF(slot), 0), one);
        load_relaxed(me, WORD(SEGMENT_OF(slot), 1), other);
#ifndef NO_FENCE_READER
        fence_acquire(me);
#endif
#ifndef NO_RECHECK
        load_relaxed(me, SLOT, again);
        if
        :: again != slot -> goto changed
        :: else
        fi;
#endif
        assert(one == other);
        assert(one != FOREIGN);
        assert(one <= published);
        assert(one > gone_before);
        break;
    changed:
        atomic {
            slot = 0;
            one = 0;
            other = 0;
            again = 0
        }
    :: else -> break
    od
}

proctype Deleter(byte me) {
    byte slot, one, again, last;
    bool did;
    d_step {
        deletes++;
        join(NOW(me), ACKNOWLEDGED);
        join(COULD(me), ACKNOWLEDGED);
        last = stored
    }
    do
    :: true ->
        load_acquire(me, SLOT, slot);
        if
        :: slot == 0 -> break
        :: else
        fi;
        load_relaxed(me, WORD(SEGMENT_OF(slot), 0), one);
        if
        :: one == FOREIGN -> /* another key's: no finding where the slot is still the same */
            fence_acquire(me);
            load_relaxed(me, SLOT, again);
            if
            :: again == slot -> assert(false)
            :: else
            fi
        :: else ->
            compare(me, SLOT, slot, 0, did);
            if
            :: did -> break
            :: else
            fi
        fi
    od;
    skip;
    d_step {
        gone = (gone > last -> gone : last);
        acknowledge(me);
        slot = 0;
        one = 0;
        again = 0
    }
}

init {
    byte i;
    atomic {
        initial(SLOT, NAMED(0));
        initial(WORD(0, 0), 1);
        initial(WORD(0, 1), 1);
        initial(WORD(1, 0), FOREIGN);
        initial(WORD(1, 1), FOREIGN);
        stored = 1;
        published = 1;
        run Owner();
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
