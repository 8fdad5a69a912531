/*
 * late_writes.pml — a write that timed out, and is applied by the remote store after a later delete.
 *
 * Models     change and expecting of lib/larder/remote/outbox.rb, and the states of a change (outbox/state.rb),
 *            for one key. A change that is FRESH has not been applied. When it was, it is REPEATED once more after some
 *            seconds, as the remote store may have applied a late write since. Until then this machine does not read the
 *            key. A write that keeps the old value if it fails, as of a counter, is not repeated: then the key is EXPECTED
 *            to change, and a delete in that time is repeated.
 * Left out   copies in the file (levels.pml); a process that is killed while the remote store has not answered its write:
 *            it has listed nothing.
 * Assumes    a write arrives at most MARGIN ticks after its caller has given up, and no call takes as long as a key is
 *            EXPECTED to change.
 * Numbers    each change gets the next number when it is applied, a write that arrives later when its call answers.
 * Asserts    no read answers what this machine has deleted or overwritten by a call that had answered before. When
 *            nothing is listed or on its way, the remote store has nothing that this machine has deleted.
 * Bounds     PROCESSES of the machine, each with OPERATIONS; DELETES by another machine; TICKS of the clock; LATE writes
 *            that time out.
 *
 * quick: PROCESSES=1 OPERATIONS=4 TICKS=4
 * quick: PROCESSES=2 OPERATIONS=1 TICKS=3 DELETES=1
 * full:  PROCESSES=1 OPERATIONS=5 TICKS=5 LATE=2
 * full:  PROCESSES=2 OPERATIONS=2 TICKS=3
 *
 * mutation NOT_REPEATED: the key is taken off the list by the first delete
 * mutation READ_WHILE_REPEATED: the key is read when the first delete was applied
 * mutation REPEATED_STAYS: a change that is listed while the key is REPEATED does not begin again
 * mutation TIME_STAYS: a write that is given up while the key is REPEATED does not move the time
 * mutation NOT_EXPECTED: a write that keeps the old value leaves no trace if it is given up
 * mutation TAKEN_OFF_BLINDLY PROCESSES=2 OPERATIONS=2 TICKS=3: a key that was listed again since is taken off the list
 */
#ifndef PROCESSES
#define PROCESSES 2
#endif
#ifndef OPERATIONS
#define OPERATIONS 2
#endif
#ifndef DELETES
#define DELETES 0
#endif
#ifndef TICKS
#define TICKS 3
#endif
#ifndef LATE
#define LATE 1
#endif
#define MARGIN 1
#define EXPECTED_FOR 20
#define CALLED 255 /* its call has not answered yet, so it has no number */
#define MAX(a, b) ((a) > (b) -> (a) : (b))
#define NONE 0
#define FRESH 1
#define REPEATED 2
#define EXPECTED 3

byte now = 1;
byte numbers = 1, far = 1; /* the value in the remote store; 0: none */
byte late[LATE];           /* the number of a write that is on its way; 0: none */
byte arrives_by[LATE];
byte lates;
byte state, until;         /* of the key in the journal; it is due after this tick */
byte token;                /* no two changes of the state have the same */
byte told = 1;             /* the newest change that was applied, or whose call has answered */
byte own;                  /* no read of this machine may answer this number or an earlier one */
byte busy;                 /* calls of this machine */

inline set(next) {
    state = next;
    token++;
    until = now + (state == EXPECTED -> EXPECTED_FOR : MARGIN)
}

inline note() {
    atomic {
#ifdef REPEATED_STAYS
        if
        :: state != REPEATED -> set(FRESH)
        :: else
        fi
#else
        set(FRESH)
#endif
    }
}

/* A write that keeps the old value was given up. */
inline expect() {
    atomic {
        if
#ifndef NOT_EXPECTED
        :: state == NONE || state == EXPECTED -> set(EXPECTED)
#endif
        :: state == FRESH -> set(FRESH)
#ifndef TIME_STAYS
        :: state == REPEATED -> set(REPEATED)
#endif
        :: else
        fi
    }
}

/* A delete or a write was applied that was not listed. A write that arrives after it will be deleted. */
inline applied() {
    atomic {
        if
        :: state == EXPECTED -> set(REPEATED)
        :: else
        fi
    }
}

/* Deletes the key if that is due, and takes it off the list after the second time. */
inline catch_up() {
    atomic {
        seen = token;
        is_due = (state == FRESH || (state && now > until));
        is_repeated = (state != FRESH)
    }
    if
    :: is_due && !(is_repeated && state == EXPECTED) ->
        atomic { numbers++; told = numbers; far = 0 }
    :: else
    fi;
    atomic {
        if
#ifdef TAKEN_OFF_BLINDLY
        :: is_due ->
#else
        :: is_due && token == seen ->
#endif
            if
#ifndef NOT_REPEATED
            :: !is_repeated -> set(REPEATED)
            :: is_repeated ->
#else
            :: true ->
#endif
                state = NONE; token++; until = 0
            fi
        :: else
        fi;
        seen = 0;
        is_due = false;
        is_repeated = false
    }
}

proctype Process() {
    byte operations, mine, seen, answer, number, slot;
    bool asks, is_due, is_repeated, keeps;
again:
    atomic {
        if
        :: operations < OPERATIONS -> operations++; busy++
        :: else -> goto over
        fi;
        if
        :: goto read
        :: goto write
        :: keeps = true; goto write
        :: goto erase
        fi
    }

read:
    mine = own;
    catch_up();
#ifdef READ_WHILE_REPEATED
    asks = (state != FRESH);
#else
    asks = (state == NONE || state == EXPECTED);
#endif
    atomic {
        if
        :: asks -> answer = far
        :: else
        fi;
        assert(answer == 0 || answer > mine);
        goto answered
    }

write:
    mine = told;
    catch_up();
    asks = (state != FRESH);
    if
    :: asks ->
        if
        :: atomic { numbers++; far = numbers; number = numbers }
            applied()
        :: atomic { lates < LATE -> late[lates] = CALLED; arrives_by[lates] = now + MARGIN; lates++; slot = lates }
            if
            :: keeps -> expect()
            :: else -> note()
            fi
        fi
    :: !asks && !keeps -> atomic { numbers++; number = numbers } /* for the file */
        note()
    :: else
    fi;
    atomic {
        if
        :: slot && late[slot - 1] == CALLED -> numbers++; number = numbers; late[slot - 1] = number
        :: else
        fi;
        if
        :: !(keeps && (slot || !asks)) -> own = MAX(own, mine)
        :: else
        fi;
        told = MAX(told, number);
        slot = 0;
        goto answered
    }

erase:
    mine = told;
    catch_up();
    asks = (state != FRESH);
    if
    :: asks ->
        if
        :: atomic { numbers++; told = MAX(told, numbers); far = 0 }
            applied()
        :: note() /* the remote store has not answered */
        fi
    :: else -> note()
    fi;
    atomic { own = MAX(own, mine); goto answered }

answered:
    atomic {
        busy--;
        mine = 0;
        answer = 0;
        number = 0;
        asks = false;
        keeps = false;
        goto again
    }
over:
    skip
}

proctype Machine() {
    byte deletes;
end:
    do
    :: atomic { deletes < DELETES -> deletes++; numbers++; told = numbers; far = 0 }
    od
}

inline arrive(i) {
    atomic {
        late[i];
        if
        :: late[i] == CALLED -> numbers++; told = numbers; far = numbers
        :: else -> far = late[i]
        fi;
        late[i] = 0
    }
}

/* The clock, which waits for writes that must arrive, and the network. */
proctype World() {
    byte count;
end:
    do
    :: atomic { now < TICKS ->
        count = 0;
        do
        :: count < LATE && (late[count] == 0 || now < arrives_by[count]) -> count++
        :: else -> break
        od;
        if
        :: count == LATE -> now++
        :: else
        fi;
        count = 0 }
    :: arrive(0)
#if LATE > 1
    :: arrive(1)
#endif
    :: atomic { busy == 0 && (state == NONE || state == EXPECTED) && late[0] == 0 && late[LATE - 1] == 0 ->
        assert(far == 0 || far > own) }
    od
}

init {
    byte count;
    atomic {
        do
        :: count < PROCESSES -> run Process(); count++
        :: else -> break
        od;
        count = 0;
        run Machine();
        run World()
    }
}
