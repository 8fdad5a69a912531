/*
 * counter.pml — a counter's two cells: readers without a lock, and writers that are killed half-way.
 *
 * Models     lard_counter_write, lard_counter_read and current of counter.c, on C11's memory (weak.pml). Writers come
 *            one after the other, for they hold the shard's lock (lock.pml); each may be killed before any store.
 * Left out   the seals' content: a seal here is the sequence alone and proves nothing about the number, so what holds,
 *            holds by the order of stores alone. The sequence does not go round (counter_test.c).
 * Asserts    a read finds no number older than the last one acknowledged when it began, none that was not being
 *            written when it ended, and none older than an earlier read, anybody's; a read that nothing disturbs
 *            finds a number.
 * Bounds     WRITES begun, any number of them killed; READERS that read READS times.
 *
 * quick: WRITES=3
 * full:  WRITES=5
 * full:  WRITES=4 READS=2
 * full:  WRITES=2 READERS=2
 *
 * mutation NO_SECOND_LOOK: the cell that counts is not looked at once more after both were read
 * mutation NO_UNSEALING WRITES=4 READS=2: the older cell keeps its seal while its number changes
 * mutation NO_FENCE: nothing keeps the number from being seen before the seal is gone
 * mutation RELAXED_SEAL: the seal may be seen before the number
 * mutation RELAXED_LOADS: the number may be loaded before its seal
 * mutation WRONG_CELL: the cell that counts is the one that is written
 */
#ifndef WRITES
#define WRITES 3
#endif
#ifndef READERS
#define READERS 1
#endif
#ifndef READS
#define READS 1
#endif

#define LOCATIONS 4
#define MESSAGES (WRITES * 2 + 2)
#define ACTORS (READERS + 1)
#define WRITER READERS
#define NUMBER(cell) (2 * (cell))
#define SEAL(cell) (2 * (cell) + 1)
#define TRIES 2

#include "weak.pml"

byte last_told;  /* the highest number that anybody was told of, by a write's end or a read's */
byte last_begun; /* the highest that was about to be written; each write's is one more than what it found */
byte writes;     /* begun */
bool writing;

/* As current of counter.c: which cell counts (2: none), its number and sequence. */
inline current(me, best, number, sequence) {
    best = 2;
    sequence = 0;
    number = 0;
    cell = 0;
    do
    :: cell < 2 ->
#ifdef RELAXED_LOADS
        load_relaxed(me, SEAL(cell), seal);
#else
        load_acquire(me, SEAL(cell), seal);
#endif
        load_acquire(me, NUMBER(cell), value);
        if
        :: seal == 0 -> skip
        :: else ->
            if
            :: seal > sequence ->
                best = cell;
                number = value;
                sequence = seal
            :: else
            fi
        fi;
        cell++
    :: else -> break
    od;
#ifndef NO_SECOND_LOOK
    if
    :: best < 2 ->
        load_relaxed(me, SEAL(best), again);
        if
        :: again != sequence -> best = 2
        :: else
        fi
    :: else
    fi;
#endif
    atomic {
        cell = 0;
        seal = 0;
        value = 0;
        again = 0
    }
}

proctype Writer() {
    byte cell, seal, value, again, target, number, sequence;
    do
    :: writes < WRITES ->
        atomic {
            writes++;
            writing = true
        }
        atomic { /* under the lock nothing changes: what was written last is seen */
            target = (NEWEST(SEAL(0)) >= NEWEST(SEAL(1)) -> 1 : 0);
#ifdef WRONG_CELL
            target = 1 - target;
#endif
            number = (NEWEST(SEAL(0)) >= NEWEST(SEAL(1)) -> NEWEST(NUMBER(0)) : NEWEST(NUMBER(1))) + 1;
            sequence = (NEWEST(SEAL(0)) >= NEWEST(SEAL(1)) -> NEWEST(SEAL(0)) : NEWEST(SEAL(1))) + 1;
            last_begun = number
        }
#ifndef NO_UNSEALING
        if
        :: store_relaxed(WRITER, SEAL(target), 0)
        :: goto killed
        fi;
#endif
#ifndef NO_FENCE
        fence_release(WRITER);
#endif
        if
        :: store_relaxed(WRITER, NUMBER(target), number)
        :: goto killed
        fi;
        if
        :: atomic {
#ifdef RELAXED_SEAL
            store_relaxed(WRITER, SEAL(target), sequence);
#else
            store_release(WRITER, SEAL(target), sequence);
#endif
        }
        :: goto killed
        fi;
        atomic {
            last_told = (last_told > number -> last_told : number);
            acknowledge(WRITER);
            writing = false
        }
        goto next;
    killed:
        atomic { /* the kernel tells the next owner, and with it all that it did is there to see */
            acknowledge(WRITER);
            writing = false
        }
    next:
        atomic {
            number = 0;
            sequence = 0;
            target = 0
        }
    :: else -> break
    od
}

proctype Reader(byte me) {
    byte cell, seal, value, again, best, number, sequence, least, tries, reads, writes_before;
    bool quiet;
    do
    :: reads < READS ->
        atomic {
            reads++;
            hear(me);
            least = last_told;
            writes_before = writes;
            quiet = !writing
        }
        tries = 0;
        do
        :: tries < TRIES ->
            tries++;
            current(me, best, number, sequence);
            if
            :: best < 2 -> break
            :: else
            fi
        :: else -> break
        od;
        atomic {
            if
            :: best < 2 ->
                assert(number >= least);
                assert(number <= last_begun);
                last_told = (last_told > number -> last_told : number);
                acknowledge(me)
            :: else -> assert(!quiet || writes != writes_before)
            fi;
            writes_before = 0;
            best = 0;
            number = 0;
            sequence = 0;
            tries = 0;
            least = 0;
            quiet = false
        }
    :: else -> break
    od
}

init {
    byte i;
    atomic {
        initial(NUMBER(0), 0);
        initial(SEAL(0), 1);
        initial(NUMBER(1), 0);
        initial(SEAL(1), 0);
        run Writer();
        do
        :: i < READERS ->
            run Reader(i);
            i++
        :: else -> break
        od
    }
}
