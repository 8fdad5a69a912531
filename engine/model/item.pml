/*
 * item.pml — one key's item, as the models of the index see it. Included by them after weak.pml.
 *
 * A slot holds 0, or an item: its version and whether it was read (the frequency, which a reader raises). A version is
 * what one store wrote; a later one is greater. `gone` is the greatest version that may not be seen any more by who
 * begins now: something newer was stored, or it was deleted, and that was told.
 */
#define ITEM(version) (2 * (version))
#define READ 1
#define PENDING 64
#define VERSION(slot) (((slot) & (PENDING - 1)) / 2)
#define SAME(a, b) (((a) | READ) == ((b) | READ))

byte gone, stored; /* stored: the greatest version whose store was told */
byte deletes;      /* begun */

/* As lard_slot_replace of slot.h: replaces the item of `value`, whatever its frequency; `did` says whether. Changes `was`. */
inline replace_slot(me, slot, value, replacement, did) {
    was = value;
    did = false;
    do
    :: !did && SAME(was, value) ->
        compare(me, slot, was, replacement, did);
        if
        :: !did -> was = NEWEST(slot)
        :: else
        fi
    :: else -> break
    od;
    was = 0
}

/* As delete_in_slot of index.c: empties the slot if it holds an item, pending or not. Changes `value`, `was` and `did`. */
inline delete_in_slot(me, slot) {
    load_relaxed(me, slot, value); /* the hint of lard_probe */
    did = (value == 0);
    do
    :: !did ->
        load_acquire(me, slot, value);
        if
        :: value == 0 -> did = true
        :: else -> replace_slot(me, slot, value, 0, did)
        fi
    :: else -> break
    od;
    value = 0;
    did = false
}

inline begin_read(me) {
    d_step {
        hear(me);
        gone_before = gone
    }
}

inline begin_delete(me) {
    d_step {
        deletes++;
        hear(me);
        last = stored
    }
}

inline end_delete(me) {
    d_step {
        gone = (gone > last -> gone : last);
        acknowledge(me);
        last = 0
    }
}

inline end_store(me, version) {
    d_step {
        stored = version;
        gone = (gone > version - 1 -> gone : version - 1);
        acknowledge(me)
    }
}
