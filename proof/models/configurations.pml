/*
 * configurations.pml — a key in one file that processes of several configurations use.
 *
 * Models     the table of configurations in the control page and the row in each record: how a process takes, finds and
 *            frees rows (engine/src/file/belief.c), reads (api/get.c), stores under the shard's lock (item/write.c),
 *            leases (item/lease.c), deletes, which take no lock, the end of a clear epoch, and trust (api/trust.c).
 * Left out   loads and stores out of order, which engine/model/read.pml has; the remote stores; tags; a process that is
 *            killed while it holds the shard's lock, which the next holder repairs.
 * Numbers    a copy has the number of deletes that were applied when its remote store was asked.
 * Asserts    a read answers only records of its own configuration, and nothing from before a delete that was applied when
 *            the read began, by any configuration. Copies of a configuration are trusted only if a listener of that
 *            configuration said so.
 * Bounds     ONE, TWO and THREE processes of three configurations, and NONE without one; each opens the file and makes
 *            OPERATIONS calls, stores without a lease and trust among them if STORES and TRUST are 1. A process may stop
 *            for ever at any step, or be killed while it frees rows. ROWS in the table; the first is in use by
 *            configuration 1 and has a copy. The rows are freed CLEARS times.
 *
 * quick: ONE=1 TWO=2
 * quick: ONE=1 TWO=1 NONE=1
 * full:  ONE=1 TWO=2 CLEARS=2 TRUST=1
 * full:  ONE=1 TWO=1 OPERATIONS=2 CLEARS=2 TRUST=1
 * full:  ONE=1 TWO=1 THREE=1 ROWS=2 CLEARS=2 TRUST=1
 *
 * mutation ANY_ROW ONE=1 TWO=0 NONE=1: a read answers what any configuration wrote
 * mutation DELETES_OWN ONE=1 TWO=0 NONE=2: a delete leaves what another configuration wrote
 * mutation NO_LEASE ONE=1 TWO=0 NONE=2: a copy is stored whether or not its lease has ended
 * mutation LEASE_RELABELS ONE=1 TWO=0 NONE=2: a lease keeps another configuration's value under its own row
 * mutation DIGEST_FIRST ONE=1 TWO=2: the row has the new digest before the clear epoch has ended
 * mutation EPOCH_FIRST ONE=1 TWO=2: the clear epoch ends before the row has lost its digest
 * mutation NO_ENDING ONE=1 TWO=2: the row keeps its digest until it gets the new one
 * mutation NO_EPOCH ONE=1 TWO=2: the rows are freed without an end of the clear epoch
 * mutation ROW_NOT_CHECKED ONE=1 TWO=2: a store does not look under the lock whether its row is of this epoch
 * mutation ROW_KEPT ONE=1 TWO=1 NONE=1: a read keeps its row in the next epoch
 * mutation NO_SECOND_LOOK ONE=1 TWO=1 THREE=1 ROWS=2: a row is noted for an epoch that may have ended when the row was found
 * mutation TRUST_OF_ROW ONE=1 TWO=2 TRUST=1 STORES=0: the times of trust do not name the configuration
 */
#ifndef ONE
#define ONE 1
#endif
#ifndef TWO
#define TWO 1
#endif
#ifndef THREE
#define THREE 0
#endif
#ifndef NONE
#define NONE 0
#endif
#ifndef OPERATIONS
#define OPERATIONS 1
#endif
#ifndef ROWS
#define ROWS 1
#endif
#ifndef TRUST
#define TRUST 0
#endif
#ifndef STORES
#define STORES 1
#endif
#ifndef CLEARS
#define CLEARS 1
#endif
#define ENDING 9 /* a digest that no configuration has */

byte digests[ROWS + 1]; /* of the rows; 0: free. Row 0 is that of no configuration */
byte trusted[ROWS + 1]; /* the configuration whose listener stored the times of trust; 0: they are over */
bool opener;            /* the opener's lock */
byte epoch = 1;         /* the clear epoch; never the same again */
byte clears;

byte emptied = 1;       /* the clear epoch in which the shard was emptied; 0: it is being emptied */
bool locked;            /* the shard's lock */
byte slot, slots;       /* 0: the key has no record */
byte writer;            /* the configuration that wrote the record, and 1; 0: it is a placeholder */
byte row, number;
byte lease;             /* its owner; 0: none */
byte deletes;

inline publish(w, r, n, l) {
    slots++;
    slot = slots;
    writer = w;
    row = r;
    number = n;
    lease = l
}

inline unpublish() {
    slot = 0;
    writer = 0;
    row = 0;
    number = 0;
    lease = 0
}

/* Sets `at` to the row of the configuration, and takes one if there is none. ROWS + 1: all are taken. */
inline find_or_take() {
    at = 1;
    do
    :: at <= ROWS && digests[at] != mine -> at++
    :: else -> break
    od;
    if
    :: at > ROWS ->
        at = 1;
        do
        :: at <= ROWS ->
            atomic {
                if
                :: digests[at] == 0 -> digests[at] = mine
                :: else
                fi;
                if
                :: digests[at] == mine -> break
                :: else -> at++
                fi
            }
        :: else -> break
        od
    :: else
    fi
}

/* Notes the row and the epoch in which it was found. */
inline renew() {
    if
    :: mine ->
        now = epoch;
        find_or_take();
        atomic {
            if
#ifdef NO_SECOND_LOOK
            :: at <= ROWS -> own_row = at; own_epoch = now
#else
            :: at <= ROWS && epoch == now -> own_row = at; own_epoch = now
#endif
            :: else
            fi;
            at = 0;
            now = 0
        }
    :: else
    fi
}

/* Under the opener's lock. Frees the rows if all are taken. */
inline adopt() {
    if
    :: mine ->
        atomic { !opener -> opener = true }
        find_or_take();
        if
        :: at > ROWS ->
            atomic {
                if
                :: clears == CLEARS -> opener = false; goto killed
                :: else -> clears++
                fi;
                at = 1
            }
#ifdef EPOCH_FIRST
            epoch++;
#endif
            do
#ifdef DIGEST_FIRST
            :: at == 1 -> digests[1] = mine; at++
            :: at > 1 && at <= ROWS -> digests[at] = 0; at++
#else
#ifdef NO_ENDING
            :: at <= ROWS -> at++
#else
            :: at <= ROWS -> digests[at] = ENDING; at++
#endif
#endif
            :: else -> break
            od;
            if
            :: skip
            :: atomic { opener = false; goto killed }
            fi;
#ifndef EPOCH_FIRST
#ifndef NO_EPOCH
            epoch++;
#endif
#endif
            at = 1;
#ifndef DIGEST_FIRST
            digests[1] = mine;
            at = 2;
            do
            :: at <= ROWS -> digests[at] = 0; at++
            :: else -> break
            od
#endif
        :: else
        fi;
        atomic { at = 0; opener = false }
    :: else
    fi
}

proctype Process(byte me; byte mine) {
    byte operations, own_row, own_epoch, at, now, seen, floor, found;
    byte answer_writer, answer_row, answer_number;
    bool is_hit, is_fill;

    adopt();
again:
    atomic {
        if
        :: operations < OPERATIONS -> operations++
        :: else -> goto killed
        fi;
        if
        :: goto read
        :: is_fill = true; goto fill
#if STORES
        :: goto store
#endif
        :: goto erase
#if TRUST
        :: mine -> goto trust
#endif
        fi
    }

read:
    floor = deletes;
#if TRUST
    if
    :: mine ->
        if
        :: mine && own_epoch != epoch -> renew()
        :: else
        fi;
        atomic {
#ifdef TRUST_OF_ROW
            found = trusted[own_row];
#else
            found = (trusted[own_row] == mine -> mine : 0);
#endif
            assert(found == 0 || found == mine);
            is_hit = found;
            found = 0;
            if
            :: is_hit -> is_hit = false
            :: else -> floor = 0; goto again
            fi
        }
    :: else
    fi;
#endif
    atomic {
        seen = emptied;
        is_hit = (seen && seen == epoch)
    }
    if
#ifdef ROW_KEPT
    :: mine && own_epoch == 0 -> renew()
#else
    :: mine && own_epoch != seen -> renew()
#endif
    :: else
    fi;
    atomic {
#ifndef ROW_KEPT
        is_hit = is_hit && (mine == 0 || own_epoch == seen);
#endif
        found = slot;
        answer_writer = writer;
        answer_row = row;
        answer_number = number
    }
    atomic {
        is_hit = is_hit && found && slot == found && emptied == seen && answer_writer;
#ifndef ANY_ROW
        is_hit = is_hit && answer_row == own_row;
#endif
        assert(!is_hit || (answer_writer == mine + 1 && answer_number >= floor));
        floor = 0;
        found = 0;
        seen = 0;
        is_hit = false;
        answer_writer = 0;
        answer_row = 0;
        answer_number = 0;
        goto again
    }

fill: /* the lease, as a store under the lock; then the remote store is asked, and then the copy is stored */
    if
    :: mine && own_epoch != epoch -> renew()
    :: else
    fi;
    atomic {
        !locked;
        if
        :: mine && own_epoch != epoch -> is_fill = false; goto again
        :: else
        fi;
        if
        :: emptied != epoch -> unpublish(); emptied = epoch
        :: else
        fi;
        if
        :: slot == 0 || writer == 0 -> publish(0, 0, 0, me)
#ifdef LEASE_RELABELS
        :: slot && writer -> publish(writer, own_row, number, me)
#else
        :: slot && writer -> publish(writer, row, number, me)
#endif
        :: lease -> is_fill = false; goto again /* another caller's, which has not ended */
        fi;
        floor = deletes
    }

store:
    if
    :: mine && own_epoch != epoch -> renew()
    :: else
    fi;
    atomic {
        !locked -> locked = true;
        seen = epoch;
#ifndef ROW_NOT_CHECKED
        if
        :: mine && own_epoch != seen -> locked = false; floor = 0; seen = 0; is_fill = false; goto again
        :: else
        fi
#endif
    }
    if
    :: emptied != seen ->
        emptied = 0;
        atomic { unpublish(); emptied = seen }
    :: else
    fi;
    atomic {
        if
#ifdef NO_LEASE
        :: is_fill -> publish(mine + 1, own_row, floor, 0)
#else
        :: is_fill && slot && lease == me -> publish(mine + 1, own_row, floor, 0)
#endif
        :: !is_fill -> publish(mine + 1, own_row, deletes, 0)
        :: else
        fi;
        locked = false;
        floor = 0;
        seen = 0;
        is_fill = false;
        goto again
    }

erase: /* also the record of another configuration */
    atomic {
#ifdef DELETES_OWN
        if
        :: slot && writer && row == own_row -> unpublish()
        :: else
        fi;
#else
        unpublish();
#endif
        deletes++;
        goto again
    }

#if TRUST
trust: /* the listener of the configuration */
    if
    :: mine && own_epoch != epoch -> renew()
    :: else
    fi;
    atomic {
        if
        :: own_epoch == epoch -> seen = own_row
        :: else
        fi
    }
    atomic {
        if
        :: seen -> trusted[seen] = mine; seen = 0
        :: else
        fi;
        goto again
    }
#endif

killed:
    skip
}

init {
    byte count, me = 1;
    atomic {
        digests[1] = 1;
        publish(2, 1, 0, 0);
        do
        :: count < ONE -> run Process(me, 1); me++; count++
        :: else -> break
        od;
        count = 0;
        do
        :: count < TWO -> run Process(me, 2); me++; count++
        :: else -> break
        od;
        count = 0;
        do
        :: count < THREE -> run Process(me, 3); me++; count++
        :: else -> break
        od;
        count = 0;
        do
        :: count < NONE -> run Process(me, 0); me++; count++
        :: else -> break
        od;
        count = 0;
        me = 0
    }
}
