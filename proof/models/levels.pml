/*
 * levels.pml — a key in the file of a machine and in the remote store that it shares with another one.
 *
 * Models     fill of copies.rb, write_many and delete of two_levels/changes.rb, ready? and change of outbox.rb, and the
 *            journal. The lease of a key in the file is as in docs/adr/0030-single-flight.md; the file's other steps are
 *            atomic.
 * Left out   the backplane (trust.pml); values under single flight (flights.pml); a write whose answer was lost and that
 *            the server applies after later commands (late_writes.pml); several remote stores (journals.pml).
 * Numbers    each change gets the next number when it is applied, a write that is not when it looks for the lease.
 * Asserts    no read that began more than EXPIRES ticks after the remote store applied a change answers an earlier
 *            number; none answers what its machine has deleted or overwritten by a call that had answered before.
 * Bounds     PROCESSES of the machine, each with OPERATIONS (the second with SECOND), each may be killed before any
 *            step: then it takes no more steps; CHANGES by the other machine; TICKS of the clock; a link that breaks and
 *            answers that are lost at any moment.
 *
 * quick: PROCESSES=1 OPERATIONS=2 TICKS=3
 * full:  PROCESSES=1 OPERATIONS=3 TICKS=4
 * full:  PROCESSES=2 OPERATIONS=1 TICKS=3
 * full:  PROCESSES=2 OPERATIONS=2 SECOND=1 TICKS=1 FLIPS=1 ENDED=0
 *
 * mutation NO_LEASE OPERATIONS=2 TICKS=1 CHANGES=0: a copy is stored whether or not the lease has ended
 * mutation LEASE_AFTER_ASKING OPERATIONS=2 TICKS=1 CHANGES=0: the lease is taken when the remote store has answered
 * mutation AGE_FROM_ANSWER PROCESSES=1 OPERATIONS=2 TICKS=4: a copy's age counts from the answer
 * mutation NO_EXPIRY PROCESSES=1 OPERATIONS=2 TICKS=4: copies are used for ever
 * mutation FILE_FIRST OPERATIONS=2 TICKS=1 CHANGES=0: a delete is of the file first, then of the remote store
 * mutation LIST_LAST OPERATIONS=2 TICKS=1 CHANGES=0: a delete that failed is listed after the copy is gone
 * mutation NO_JOURNAL PROCESSES=1 OPERATIONS=2 TICKS=1 CHANGES=0: a delete that failed is not listed
 * mutation JOURNAL_NOT_ASKED PROCESSES=1 OPERATIONS=2 TICKS=1 CHANGES=0: the remote store is read while changes are listed
 * mutation JOURNAL_BEFORE_LEASE OPERATIONS=2 TICKS=1 CHANGES=0: whether any is listed is asked before the lease
 * mutation OFF_THE_LIST_FIRST OPERATIONS=2 TICKS=1 CHANGES=0: a change is taken off the list before it is applied
 * mutation LISTED_AGAIN OPERATIONS=2 TICKS=0 FLIPS=2 ENDED=0: a change that was listed again is taken off the list
 * mutation MARK_FIRST OPERATIONS=2 TICKS=1 CHANGES=0: the journal is marked before the change is listed
 * mutation OVERFLOW_FORGOTTEN PROCESSES=1 OPERATIONS=2 TICKS=1 CHANGES=0: a journal that is full forgets the change
 * mutation WRITE_LEAVES_LEASE OPERATIONS=2 TICKS=1 CHANGES=0: a write without the lease leaves it to its owner
 */
#ifndef PROCESSES
#define PROCESSES 2
#endif
#ifndef OPERATIONS
#define OPERATIONS 1
#endif
#ifndef SECOND
#define SECOND OPERATIONS
#endif
#ifndef CHANGES
#define CHANGES 1
#endif
#ifndef TICKS
#define TICKS 4
#endif
#ifndef FLIPS
#define FLIPS 2
#endif
#ifndef ENDED
#define ENDED 1
#endif
#define EXPIRES 1 /* `older` is of that many ticks and one more */

byte now;
byte newest, older;     /* the newest number that was applied before this tick, and before the last one */
byte numbers;           /* given */
byte applied;           /* the newest in the remote store */
byte told;              /* the newest that was applied, or whose call has answered */
byte far;               /* the number of the value there; 0: none */

byte copy;    /* its number; 0: none */
byte expires; /* the tick at which it does */
byte lease;   /* its owner; 0: none */
byte listed;  /* the token of the delete that the journal lists; 0: none */
byte mark;    /* that of the latest change that was listed; 0: all were applied */
byte tokens;
bool overflown; /* the journal has forgotten changes */
bool broken;  /* the link to the remote store */
byte own;     /* no read may answer this number or an earlier one */

#define MAX(a, b) ((a) > (b) -> (a) : (b))
#define PENDING (mark || overflown)

inline delete_far() {
    numbers++;
    applied = numbers;
    told = numbers;
    far = 0
}

inline write_far() {
    numbers++;
    applied = numbers;
    told = numbers;
    far = numbers
}

/* Lists a delete, or does not find room. */
inline list() {
#ifndef NO_JOURNAL
    if
#ifdef MARK_FIRST
    :: atomic { tokens++; token = tokens; mark = token };
        atomic { listed = token; token = 0 }
#else
    :: atomic { tokens++; token = tokens; listed = token };
        atomic { mark = token; token = 0 }
#endif
#ifdef OVERFLOW_FORGOTTEN
    :: skip
#else
    :: overflown = true
#endif
    fi
#else
    skip
#endif
}

/* Applies what is listed. What it could not apply stays listed. */
inline catch_up() {
    if
    :: overflown && !broken -> atomic { delete_far() };
        if
        :: overflown = false
        :: skip /* the answer is lost */
        fi
    :: mark && !broken ->
        atomic { seen = mark; token = listed }
#ifdef OFF_THE_LIST_FIRST
        atomic { listed = 0; mark = 0 }
        if
        :: !broken -> atomic { delete_far() }
        :: else
        fi
#else
        if
        :: token -> atomic { delete_far() }
        :: else
        fi;
        if
        :: atomic {
            if
#ifdef LISTED_AGAIN
            :: listed = 0
#else
            :: listed == token -> listed = 0
            :: else
#endif
            fi;
            if
            :: mark == seen -> mark = 0
            :: else
            fi
        }
        :: skip
        fi
#endif
    :: else
    fi;
    seen = 0;
    token = 0
}

inline take_lease(me) {
    if
    :: lease == 0 -> lease = me
    :: else
    fi
}

proctype Process(byte me) {
    byte operations, floor, mine, answer, asked, token, seen, number;
    bool pending;

again:
    atomic {
        if
        :: operations < (me == 2 -> SECOND : OPERATIONS) -> operations++
        :: else -> goto killed
        fi;
        if
        :: goto read
        :: goto write
        :: goto erase
        fi
    }

read:
    atomic {
        floor = older;
        mine = own;
        answer = 0;
        if
#ifdef NO_EXPIRY
        :: copy -> answer = copy
#else
        :: copy && expires > now -> answer = copy
#endif
        :: else
        fi;
        if
        :: answer -> goto answered
        :: else
        fi
    }
#ifdef JOURNAL_BEFORE_LEASE
    if
    :: PENDING -> catch_up()
    :: else
    fi;
    atomic { pending = PENDING; asked = now }
#endif
#ifndef LEASE_AFTER_ASKING
    atomic { take_lease(me) }
#endif
#ifdef JOURNAL_NOT_ASKED
    atomic { pending = false; asked = now }
#else
#ifndef JOURNAL_BEFORE_LEASE
    if
    :: PENDING -> catch_up()
    :: else
    fi;
    atomic { pending = PENDING; asked = now }
#endif
#endif
    atomic {
        if
        :: pending || broken -> goto ended
        :: else -> answer = far
        fi
    }
#ifdef LEASE_AFTER_ASKING
    atomic { take_lease(me) }
#endif
#ifdef AGE_FROM_ANSWER
    asked = now;
#endif
    atomic {
        if
#ifdef NO_LEASE
        :: answer ->
#else
        :: answer && lease == me ->
#endif
            copy = answer;
            expires = asked + EXPIRES
        :: else
        fi
    }
ended:
    atomic {
        if
        :: lease == me -> lease = 0
        :: else
        fi
    }
answered:
    atomic {
        assert(answer == 0 || (answer >= floor && answer > mine));
        floor = 0;
        mine = 0;
        answer = 0;
        asked = 0;
        pending = false;
        goto again
    }

write:
    atomic { mine = told; asked = now }
    atomic { take_lease(me); numbers++; floor = numbers }
    if
    :: PENDING -> catch_up()
    :: else
    fi;
    number = 0;
    if
    :: PENDING || broken -> list()
    :: atomic { !PENDING && !broken -> write_far(); number = numbers };
        if
        :: skip
        :: list(); number = 0 /* the answer is lost */
        fi
    fi;
    atomic {
        if
        :: number == 0 -> number = floor
        :: else
        fi;
        if
        :: lease == me ->
            copy = number;
            expires = asked + EXPIRES;
            lease = 0
        :: else ->
            copy = 0;
#ifndef WRITE_LEAVES_LEASE
            lease = 0
#endif
        fi;
        own = MAX(own, mine);
        told = MAX(told, number);
        mine = 0;
        floor = 0;
        number = 0;
        asked = 0;
        goto again
    }

erase:
    mine = told;
#ifdef FILE_FIRST
    atomic { copy = 0; lease = 0 }
#endif
    if
    :: PENDING -> catch_up()
    :: else
    fi;
    pending = false; /* has it to be listed? */
    if
    :: PENDING || broken -> pending = true
    :: atomic { !PENDING && !broken -> delete_far() };
        if
        :: skip
        :: pending = true /* the answer is lost */
        fi
    fi;
#ifndef LIST_LAST
    if
    :: pending -> list()
    :: else
    fi;
#endif
#ifndef FILE_FIRST
    atomic { copy = 0; lease = 0 }
#endif
#ifdef LIST_LAST
    if
    :: pending -> list()
    :: else
    fi;
#endif
    atomic {
        own = MAX(own, mine);
        mine = 0;
        pending = false;
        goto again
    }

killed:
    skip
}

/* Another machine: whatever its file has, what it does here is to change the remote store at some moment. */
proctype Machine() {
    byte changes;
    do
    :: changes < CHANGES ->
        changes++;
        if
        :: atomic { delete_far() }
        :: atomic { write_far() }
        fi
    :: else -> break
    od
}

/* The clock, the link, and leases that end. */
proctype World() {
    byte flips, ends;
end:
    do
    :: atomic { now < TICKS -> older = newest; newest = applied; now++ }
    :: atomic { flips < FLIPS -> flips++; broken = !broken }
    :: atomic { ends < ENDED && lease -> ends++; lease = 0 }
    od
}

init {
    byte number;
    atomic {
        far = 1;
        numbers = 1;
        applied = 1;
        told = 1;
        do
        :: number < PROCESSES -> run Process(number + 1); number++
        :: else -> break
        od;
        number = 0;
        run Machine();
        run World()
    }
}
