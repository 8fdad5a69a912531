/*
 * journals.pml — changes that a machine lists for remote stores of several names.
 *
 * Models     the journal of lib/larder/store/remote/journal.rb (note, join, take_over, each), its rows of remote stores
 *            (journal/members.rb) and its lists (journal/lists.rb), for one key. Names 1 and 3 are of one server, as a host
 *            name and its address are; name 2 is of another one.
 * Left out   a journal that is full or was emptied; names that were not used for a day; what levels.pml has of one name.
 * Asserts    a read of this machine does not find a value that the machine has deleted under any name of the same server,
 *            by a call that had answered before.
 * Bounds     ONE, TWO and THREE processes with these names, each with OPERATIONS deletes or reads; FLIPS: the servers fail
 *            and answer again. Every process may stop for ever at any step.
 *
 * quick: ONE=1 TWO=1 THREE=1
 * quick: ONE=1 TWO=0 THREE=2
 * full:  ONE=1 TWO=1 THREE=1 OPERATIONS=2
 * full:  ONE=1 TWO=0 THREE=3 FLIPS=1
 *
 * mutation ONE_LIST ONE=1 TWO=1 THREE=0 OPERATIONS=2: all names have one list, and each takes off it what it has applied
 * mutation OWN_LIST ONE=1 TWO=0 THREE=2: a change is listed for the name of its process alone
 * mutation NO_TAKE_OVER ONE=1 TWO=0 THREE=1: a name that is used for the first time does not get what is listed
 * mutation COPY_FIRST ONE=1 TWO=0 THREE=1: a new name copies the lists before it has its row
 * mutation LISTED_ONCE ONE=1 TWO=0 THREE=1: a process that has listed a change does not look for new names
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
#define NAMES 3
#define SERVER(name) ((name) == 2 -> 2 : 1)
#ifdef ONE_LIST
#define LIST(name) 1
#else
#define LIST(name) (name)
#endif

bool old[3];              /* of each server: it has the value that is deleted */
bool failing[3];
bool deleted[3];          /* this machine has deleted it, by a call that has answered */
bool row[NAMES + 1];      /* of each name: it is in use */
bool whole[NAMES + 1];    /* it has what was listed for the others */
bool listed[NAMES + 1];

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

inline take_over() {
#ifdef NO_TAKE_OVER
    skip
#else
    other = 1;
    do
    :: other <= NAMES ->
        atomic { found = (row[other] && listed[other]) }
        if
        :: found -> listed[mine] = true
        :: else
        fi;
        other++
    :: else -> atomic { other = 0; found = false; break }
    od
#endif
}

/* For all names, until each of them was known when the change was listed. */
inline list() {
    do
    :: atomic {
            other = 1;
            do
            :: other <= NAMES ->
#ifdef OWN_LIST
                names[other] = !done[other] && other == mine;
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
        :: atomic { names[1] -> listed[LIST(1)] = true; names[1] = false; done[1] = true }
        :: atomic { names[2] -> listed[LIST(2)] = true; names[2] = false; done[2] = true }
        :: atomic { names[3] -> listed[LIST(3)] = true; names[3] = false; done[3] = true }
        :: !names[1] && !names[2] && !names[3] -> break
        od
    od;
    atomic { done[1] = false; done[2] = false; done[3] = false }
}

/* Applies what is listed for this name, if its server answers. */
inline catch_up() {
    if
    :: listed[LIST(mine)] && !failing[SERVER(mine)] -> old[SERVER(mine)] = false; listed[LIST(mine)] = false
    :: else
    fi
}

proctype Process(byte mine) {
    byte operations, other;
    bool is_whole, found, done[NAMES + 1], names[NAMES + 1], knows;

    join();
    do
    :: operations < OPERATIONS ->
        operations++;
        if
        :: skip -> /* a read */
            knows = deleted[SERVER(mine)];
            catch_up();
            if
            :: !listed[LIST(mine)] ->
                atomic {
                    assert(failing[SERVER(mine)] || !(knows && old[SERVER(mine)]));
                    knows = false
                }
            :: else -> knows = false
            fi
        :: skip -> /* a delete */
            catch_up();
            if
            :: !listed[LIST(mine)] ->
                atomic {
                    if
                    :: !failing[SERVER(mine)] -> old[SERVER(mine)] = false; found = true
                    :: else
                    fi
                }
            :: else
            fi;
            if
            :: !found -> list()
            :: else
            fi;
            atomic { found = false; deleted[SERVER(mine)] = true }
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
