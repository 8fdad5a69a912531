/*
 * journals.pml — changes that a machine lists for remote stores of several names.
 *
 * Models     the journal of lib/larder/remote/outbox/journal.rb (note, expect, changed, join, take_over, each), its rows of
 *            remote stores (outbox/members.rb) and its lists (outbox/lists.rb), for one key. Names 1 and 3 are of one
 *            server, as a host name and its address are; name 2 is of another one. A process may give up a write or a
 *            counter, which arrives later. The states of a key are those of late_writes.pml; the clock is left out: a
 *            REPEATED key is deleted for the second time when nothing is on its way.
 * Left out   a journal that is full or was emptied; names that were not used for a day; what levels.pml has of one name.
 * Asserts    a read of this machine does not find a value that the machine has deleted under any name of the same server,
 *            by a call that had answered before.
 * Bounds     ONE, TWO and THREE processes with these names, each with OPERATIONS; LATES: an operation may be given up;
 *            FLIPS: the servers fail and answer again. Every process may stop for ever at any step.
 *
 * quick: ONE=1 TWO=1 THREE=1 LATES=0
 * quick: ONE=1 TWO=0 THREE=1 OPERATIONS=2
 * full:  ONE=1 TWO=1 THREE=1
 * full:  ONE=1 TWO=0 THREE=2
 *
 * mutation ONE_LIST ONE=1 TWO=1 THREE=0 OPERATIONS=2: all names have one list, and each takes off it what it has applied
 * mutation OWN_LIST ONE=1 TWO=0 THREE=2: a change is listed for the name of its process alone
 * mutation NO_TAKE_OVER ONE=1 TWO=0 THREE=1: a name that is used for the first time does not get what is listed
 * mutation COPY_FIRST ONE=1 TWO=0 THREE=1: a new name copies the lists before it has its row
 * mutation LISTED_ONCE ONE=1 TWO=0 THREE=1: a process that has listed a change does not look for new names
 * mutation COPY_FRESH ONE=1 TWO=0 THREE=1 OPERATIONS=3: a new name gets only changes that were not applied
 * mutation COPY_ONCE ONE=1 TWO=0 THREE=1 OPERATIONS=3: a new name does not look whether a copied state was replaced
 * mutation COPY_OVER ONE=1 TWO=0 THREE=2 FLIPS=1: a copied state replaces one that waits for more
 * mutation ANY_FIRST ONE=1 TWO=0 THREE=1 OPERATIONS=2: what is expected becomes a change for other names first
 * mutation EXPECTED_ALONE ONE=1 TWO=0 THREE=1 OPERATIONS=2: only the own name expects what was given up
 * mutation WHOLE_AT_ONCE ONE=1 TWO=0 THREE=2: a new name counts as complete before it has the lists of the others
 */
#ifndef ONE
#define ONE 1
#endif
#ifndef TWO
#define TWO 1
#endif
#ifndef THREE
#define THREE 1
#endif
#ifndef OPERATIONS
#define OPERATIONS 1
#endif
#ifndef FLIPS
#define FLIPS 2
#endif
#ifndef LATES
#define LATES 1
#endif
#define NAMES 3
#define NONE 0
#define EXPECTED 1
#define REPEATED 2
#define FRESH 3
#define CALLED 1  /* of late: it was sent */
#define GIVEN_UP 2
#define LATE 3    /* its call has answered */
#define SERVER(name) ((name) == 2 -> 2 : 1)
#ifdef ONE_LIST
#define LIST(name) 1
#else
#define LIST(name) (name)
#endif
#ifdef ANY_FIRST
#define FIRST(name) true
#else
#define FIRST(name) ((name) == mine || done[mine])
#endif

bool old[3];              /* of each server: it has the value that is deleted */
bool failing[3];
bool deleted[3];          /* this machine has deleted it, by a call that has answered */
byte late;                /* an operation on server 1 that is given up */
bool arrived;
bool late_value;          /* server 1 has what it stores */
bool late_deleted;        /* this machine has deleted that, by a call that began after the operation was given up */
bool row[NAMES + 1];      /* of each name: it is in use */
bool whole[NAMES + 1];    /* it has what was listed for the others */
byte listed[NAMES + 1];   /* its state, in the order of what it waits for */
byte token[NAMES + 1];    /* no two states of a name have the same */
bool after_late[NAMES + 1]; /* the time of the state counts from when the operation was given up, or later */

inline set(name, state) {
    listed[name] = state;
    token[name]++;
    after_late[name] = (late >= GIVEN_UP)
}

/* A copied state never replaces one that waits for more. */
inline raise(name, state, is_after) {
    if
    :: state > listed[name] -> listed[name] = state; token[name]++; after_late[name] = is_after
    :: state == listed[name] -> token[name]++; after_late[name] = after_late[name] || is_after
    :: else
    fi
}

/* Makes the name's row, and lists for it what is listed for other names. */
inline join() {
#ifdef COPY_FIRST
    take_over();
    row[mine] = true;
#else
    atomic {
        row[mine] = true;
#ifdef WHOLE_AT_ONCE
        is_whole = whole[mine];
        whole[mine] = true
#else
        is_whole = whole[mine]
#endif
    }
    if
    :: !is_whole -> take_over(); whole[mine] = true
    :: else
    fi
#endif
}

/* An entry is copied until it has the same state before and after. */
inline take_over() {
#ifdef NO_TAKE_OVER
    skip
#else
    other = 1;
    do
    :: other <= NAMES ->
        atomic {
            if
            :: row[other] && other != mine -> taken = listed[other]; is_after = after_late[other]
            :: else -> taken = NONE
            fi
        }
        do
        :: taken != NONE ->
            atomic {
#ifdef COPY_FRESH
                if
                :: taken == FRESH -> raise(mine, FRESH, is_after)
                :: else
                fi
#elif defined(COPY_OVER)
                listed[mine] = taken;
                after_late[mine] = is_after
#else
                raise(mine, taken, is_after)
#endif
            }
            atomic {
#ifdef COPY_ONCE
                taken = NONE
#else
                if
                :: taken == listed[other] && is_after == after_late[other] -> taken = NONE
                :: else -> taken = listed[other]; is_after = after_late[other]
                fi
#endif
            }
        :: else -> break
        od;
        atomic { is_after = false; other++ }
    :: else -> atomic { other = 0; break }
    od
#endif
}

/* For the own name, then for all, until each of them was known. */
inline list() {
    do
    :: atomic {
            other = 1;
            do
            :: other <= NAMES ->
#ifdef OWN_LIST
                names[other] = !done[other] && other == mine;
#elif defined(EXPECTED_ALONE)
                names[other] = !done[other] && (other == mine || (row[other] && change != EXPECTED));
#else
                names[other] = !done[other] && (row[other] || other == mine);
#endif
                other++
            :: else -> break
            od;
            other = 0;
            if
#ifdef LISTED_ONCE
            :: done[mine] -> names[1] = false; names[2] = false; names[3] = false; break
#else
            :: !names[1] && !names[2] && !names[3] -> break
#endif
            :: else
            fi
        }
        do
        :: atomic { names[1] && FIRST(1) -> enter(LIST(1)); names[1] = false; done[1] = true }
        :: atomic { names[2] && FIRST(2) -> enter(LIST(2)); names[2] = false; done[2] = true }
        :: atomic { names[3] && FIRST(3) -> enter(LIST(3)); names[3] = false; done[3] = true }
        :: !names[1] && !names[2] && !names[3] -> break
        od
    od;
    atomic { done[1] = false; done[2] = false; done[3] = false; change = NONE }
}

/* FRESH: a change was not applied. EXPECTED: an operation was given up, which keeps the old value. REPEATED: a change was
 * applied. The time counts from now. */
inline enter(entered) {
    if
    :: change == FRESH -> set(entered, FRESH)
    :: change == EXPECTED && listed[entered] > EXPECTED -> set(entered, listed[entered])
    :: change == EXPECTED && listed[entered] <= EXPECTED -> set(entered, EXPECTED)
    :: change == REPEATED && listed[entered] == EXPECTED -> set(entered, REPEATED)
    :: else
    fi
}

inline delete_far() {
    old[SERVER(mine)] = false;
    if
    :: SERVER(mine) == 1 -> late_value = false
    :: else
    fi
}

/* Applies what is listed for this name, if its server answers. */
inline catch_up() {
    atomic {
        seen = listed[LIST(mine)];
        version = token[LIST(mine)];
        if
        :: failing[SERVER(mine)] || seen == EXPECTED -> seen = NONE
        :: seen == REPEATED && SERVER(mine) == 1 && late >= GIVEN_UP && !arrived && after_late[LIST(mine)] -> seen = NONE
        :: else
        fi
    }
    if
    :: seen -> atomic { delete_far() }
        atomic {
            if
            :: version != token[LIST(mine)]
            :: version == token[LIST(mine)] && seen == FRESH -> set(LIST(mine), REPEATED)
            :: version == token[LIST(mine)] && seen == REPEATED -> set(LIST(mine), NONE)
            fi
        }
    :: else
    fi;
    atomic { seen = NONE; version = 0 }
}

proctype Process(byte mine) {
    byte operations, other, taken, change, seen, version;
    bool is_whole, is_after, done[NAMES + 1], names[NAMES + 1], knows, knows_late;

    join();
    do
    :: operations < OPERATIONS ->
        operations++;
        if
        :: skip -> /* a read */
            atomic { knows = deleted[SERVER(mine)]; knows_late = (late_deleted && SERVER(mine) == 1) }
            catch_up();
            atomic {
                if
                :: listed[LIST(mine)] <= EXPECTED && !failing[SERVER(mine)] ->
                    assert(!(knows && old[SERVER(mine)]));
                    assert(!(knows_late && late_value))
                :: else
                fi;
                knows = false;
                knows_late = false
            }
        :: skip -> /* a delete */
            atomic { knows_late = (late >= LATE && SERVER(mine) == 1) }
            catch_up();
            if
            :: listed[LIST(mine)] != FRESH && !failing[SERVER(mine)] ->
                atomic { delete_far() }
                change = (listed[LIST(mine)] != NONE -> REPEATED : NONE)
            :: else -> change = FRESH
            fi;
            if
            :: change -> list()
            :: else
            fi;
            atomic {
                deleted[SERVER(mine)] = true;
                late_deleted = late_deleted || knows_late;
                knows_late = false
            }
        :: atomic { late == NONE && LATES && SERVER(mine) == 1 && listed[LIST(mine)] != FRESH -> late = CALLED }
            atomic {
                late = GIVEN_UP;
                if
                :: change = FRESH /* a write */
                :: change = EXPECTED /* a counter */
                fi
            }
            list();
            late = LATE
        fi
    :: else -> break
    od
}

proctype World() {
    byte flips;
end:
    do
    :: atomic { flips < FLIPS -> flips++; failing[1] = !failing[1] }
    :: atomic { flips < FLIPS -> flips++; failing[2] = !failing[2] }
    :: atomic { late && !arrived -> arrived = true; late_value = true }
    od
}

init {
    byte count;
    atomic {
        old[1] = true;
        old[2] = true;
        do
        :: count < ONE -> run Process(1); count++
        :: else -> break
        od;
        count = 0;
        do
        :: count < TWO -> run Process(2); count++
        :: else -> break
        od;
        count = 0;
        do
        :: count < THREE -> run Process(3); count++
        :: else -> break
        od;
        count = 0;
        run World()
    }
}
