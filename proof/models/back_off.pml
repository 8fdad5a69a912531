/*
 * back_off.pml — the block of an expired value raises, and machines serve the old value for a while.
 *
 * Models     begin and apply of lib/larder/store/back_offs.rb: the back-off is a record of its
 *            own in the remote store, and names the old value. Each command of that store is atomic.
 * Left out   copies (levels.pml); how a value that was computed is stored (flights.pml: here, in one step).
 * Numbers    the source of the value gets the next number, then a delete or a write tells the cache.
 *            A value has the number of its source. The code names a value by the time at which it expires.
 *            The moments at which values expire are counted. After an error the code reads the old value again, and
 *            names it only if it expired before the block began.
 * Asserts    a call answers nothing from before the last delete or write that had answered when it began. Its block is
 *            left out only if a block has raised that began while the same old value was there.
 * Bounds     CALLERS with CALLS each; CHANGES by another machine. Values expire and a back-off ends at any moment.
 *
 * quick: CALLERS=2 CALLS=2 CHANGES=1
 * full:  CALLERS=3 CALLS=1 CHANGES=2
 * full:  CALLERS=2 CALLS=2 CHANGES=2
 *
 * mutation NAMES_NO_VALUE: the back-off is of the key, also when that has another value
 * mutation MAKES_FRESH: after an error the caller stores the old value again, as one that is fresh for a while
 * mutation VALUE_OF_LATER CALLERS=2 CALLS=1 CHANGES=1: the back-off also names a value that expired after that
 */
#ifndef CALLERS
#define CALLERS 2
#endif
#ifndef CALLS
#define CALLS 2
#endif
#ifndef CHANGES
#define CHANGES 1
#endif

byte source = 1, told = 1;
byte value = 1; /* 0: none */
bool expired;
byte moment = 1, expired_at;
byte back_off;  /* the value that it names; 0: none */
bool raised[CHANGES + 2]; /* a block has raised that began while the old value of this number was there */

proctype Caller() {
    byte calls, floor, found, named, began, there;
    bool is_old;
    do
    :: calls < CALLS ->
        calls++;
        floor = told;
        atomic { found = value; is_old = expired }
        if
        :: found && is_old -> named = back_off
        :: else
        fi;
        if
        :: found && !is_old -> assert(found >= floor)
#ifdef NAMES_NO_VALUE
        :: found && is_old && named ->
#else
        :: found && is_old && named == found ->
#endif
            assert(found >= floor && raised[found])
        :: else -> /* runs the block */
            if
            :: floor = source;
                atomic {
                    if
                    :: value == found && floor == source -> value = floor; expired = false
                    :: else
                    fi
                }
            :: found -> /* it raises, and the answer is the old value */
                assert(found >= floor);
                atomic { began = moment; there = (expired -> value : 0) }
                raised[there] = true;
#ifdef MAKES_FRESH
                atomic { value = found; expired = false }
#else
                atomic {
                    if
#ifdef VALUE_OF_LATER
                    :: value && expired -> back_off = value
#else
                    :: value && expired && expired_at <= began -> back_off = value
#endif
                    :: else
                    fi
                }
#endif
            :: skip
            fi
        fi;
        atomic { floor = 0; found = 0; named = 0; began = 0; there = 0; is_old = false }
    :: else -> break
    od
}

proctype Changes() {
    byte changes;
    do
    :: changes < CHANGES ->
        changes++;
        source++;
        if
        :: atomic { value = source; expired = false }
        :: atomic { value = 0; expired = false }
        fi;
        told = source
    :: else -> break
    od
}

proctype World() {
end:
    do
    :: atomic { value && !expired -> expired = true; moment++; expired_at = moment }
    :: back_off -> back_off = 0
    od
}

init {
    byte count;
    atomic {
        do
        :: count < CALLERS -> run Caller(); count++
        :: else -> break
        od;
        count = 0;
        run Changes();
        run World()
    }
}
