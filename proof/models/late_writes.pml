/*
 * late_writes.pml — a write that timed out, and is applied by the remote store after a later delete.
 *
 * Models     change of lib/larder/store/remote.rb and the list of remote/journal.rb, for one key: a write that timed out
 *            leaves the key listed, with the time until which the write may arrive. Until a delete was sent after that
 *            time, the key stays listed. While it is listed, this machine does not read it from the remote store.
 * Left out   copies in the file (levels.pml); a process that is killed while the remote store has not answered its write:
 *            it has listed nothing.
 * Assumes    a write arrives at most MARGIN ticks after its caller has given up.
 * Numbers    each change gets the next number when it is applied, a write that arrives later when its call answers.
 * Asserts    no read answers what this machine has deleted or overwritten by a call that had answered before. When
 *            nothing is listed or on its way, the remote store has nothing from before a delete of any machine.
 * Bounds     PROCESSES of the machine, each with OPERATIONS; DELETES by another machine; TICKS of the clock; LATE writes
 *            that time out.
 *
 * quick: PROCESSES=1 OPERATIONS=4 TICKS=4
 * quick: PROCESSES=2 OPERATIONS=1 TICKS=3
 * full:  PROCESSES=2 OPERATIONS=2 TICKS=2 DELETES=0
 * full:  PROCESSES=2 OPERATIONS=1 TICKS=4 LATE=2
 * full:  PROCESSES=1 OPERATIONS=4 TICKS=4 LATE=2 DELETES=0
 *
 * mutation NOT_REPEATED PROCESSES=1 OPERATIONS=3 TICKS=3: the key is taken off the list by the first delete
 * mutation READ_WHILE_LISTED PROCESSES=1 OPERATIONS=3 TICKS=3: the key is read when the first delete was applied
 * mutation DOUBT_LOST PROCESSES=1 OPERATIONS=3 TICKS=3: a key that is listed again forgets until when a write may arrive
 * mutation TIME_AFTER PROCESSES=1 OPERATIONS=3 TICKS=4: the time is looked at after the delete, not before it
 * mutation TAKEN_OFF_BLINDLY PROCESSES=2 OPERATIONS=2 TICKS=3: a key that was listed again since is taken off the list
 */
#ifndef PROCESSES
#define PROCESSES 2
#endif
#ifndef OPERATIONS
#define OPERATIONS 2
#endif
#ifndef DELETES
#define DELETES 1
#endif
#ifndef TICKS
#define TICKS 3
#endif
#ifndef LATE
#define LATE 1
#endif
#define MARGIN 1
#define CALLED 255 /* its call has not answered yet, so it has no number */
#define MAX(a, b) ((a) > (b) -> (a) : (b))

byte now = 1;
byte numbers = 1, far = 1; /* the value in the remote store; 0: none */
byte late[LATE];           /* the number of a write that is on its way; 0: none */
byte arrives_by[LATE];
byte lates;
byte listed;               /* a token; 0: the key is not listed */
byte doubt;                /* the tick until which a write of the key may arrive */
byte tokens;
byte told = 1;             /* the newest change that was applied, or whose call has answered */
byte own;                  /* no read of this machine may answer this number or an earlier one */
byte others;               /* the number of the last delete by another machine */
byte busy;                 /* calls of this machine */

inline list(until) {
    atomic {
        tokens++;
        listed = tokens;
#ifdef DOUBT_LOST
        doubt = until
#else
        doubt = MAX(doubt, until)
#endif
    }
}

/* Deletes the key if it is listed, and takes it off the list if no write can arrive any more. */
inline catch_up() {
    if
    :: listed ->
        atomic { token = listed; since = doubt; at = now }
        atomic { numbers++; told = numbers; far = 0 }
#ifdef TIME_AFTER
        at = now;
#endif
        atomic {
            if
#ifdef TAKEN_OFF_BLINDLY
            :: at > since ->
#else
#ifdef NOT_REPEATED
            :: listed == token ->
#else
            :: listed == token && at > doubt ->
#endif
#endif
                listed = 0; doubt = 0
            :: else
            fi;
            token = 0;
            since = 0;
            at = 0
        }
    :: else
    fi
}

proctype Process() {
    byte operations, mine, token, since, at, answer, number, slot;
    bool asks;
again:
    atomic {
        if
        :: operations < OPERATIONS -> operations++; busy++
        :: else -> goto over
        fi;
        if
        :: goto read
        :: goto write
        :: goto erase
        fi
    }

read:
    mine = own;
    catch_up();
#ifdef READ_WHILE_LISTED
    asks = true;
#else
    asks = (listed == 0);
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
    asks = (listed == 0);
    if
    :: asks ->
        if
        :: atomic { numbers++; far = numbers; number = numbers }
        :: atomic { lates < LATE -> late[lates] = CALLED; arrives_by[lates] = now + MARGIN; lates++; slot = lates }
            list(now + MARGIN)
        fi
    :: else -> atomic { numbers++; number = numbers } /* for the file */
        list(0)
    fi;
    atomic {
        if
        :: slot && late[slot - 1] == CALLED -> numbers++; number = numbers; late[slot - 1] = number
        :: else
        fi;
        own = MAX(own, mine);
        told = MAX(told, number);
        slot = 0;
        goto answered
    }

erase:
    mine = told;
    catch_up();
    asks = (listed == 0);
    if
    :: asks ->
        if
        :: atomic { numbers++; told = MAX(told, numbers); far = 0 }
        :: list(0) /* the remote store has not answered */
        fi
    :: else -> list(0)
    fi;
    atomic { own = MAX(own, mine); goto answered }

answered:
    atomic {
        busy--;
        mine = 0;
        answer = 0;
        number = 0;
        asks = false;
        goto again
    }
over:
    skip
}

proctype Machine() {
    byte deletes;
end:
    do
    :: atomic { deletes < DELETES -> deletes++; numbers++; told = numbers; far = 0; others = numbers }
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
    :: atomic { busy == 0 && listed == 0 && late[0] == 0 && late[LATE - 1] == 0 ->
        assert(far == 0 || far > MAX(own, others)) }
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
