/*
 * weak.pml — memory as C11 promises it, for models that would otherwise run on spin's own, where every store is seen
 * by all at once. Included by the models; they define LOCATIONS, MESSAGES and ACTORS before.
 *
 * Each location keeps all stores to it, in order. Each actor has a view: for each location the oldest store that it
 * may still read. So a load may find an old value, for as long as nothing told the actor of a newer one: that covers
 * store buffers (of one queue, as x86 has them, or one a location), loads out of order, and stores out of order.
 *
 *   load_relaxed    reads any store not older than the view; what its writer had released waits in `could`
 *   load_acquire    takes over what the writer had released
 *   store_relaxed   hands on what was fenced off before by fence_release
 *   store_release   hands on all that the actor has seen
 *   fence_acquire   what could be known by the loads before is known
 *   fence_release   what is known now is handed on by the stores after
 *   fence_full      both, and one order of all such fences
 *   swap, compare   read the newest store, acquire and release; they are no full fence
 *
 * These are the rules of C11 but for one: a store never moves before an earlier load. Stores to a location that is
 * not changed by compare-and-swap come from one actor at a time (the lock's owner), so they are put behind all others.
 *
 * `acknowledged` is a view too: what a caller may know that was told of a call's end, by whatever means. Who begins a
 * call hears of all that ended before (`hear`): that is the order in real time which linearizability speaks of.
 */
typedef View {
    byte at[LOCATIONS]
};

#define NOW(me) (3 * (me))       /* the oldest stores that it may read */
#define COULD(me) (3 * (me) + 1) /* the same after a fence_acquire */
#define TOLD(me) (3 * (me) + 2)  /* what relaxed stores hand on */
#define FENCES (3 * ACTORS)
#define ACKNOWLEDGED (3 * ACTORS + 1)
#define MORE_VIEWS (3 * ACTORS + 2) /* as many as the model wants */
#ifndef MODEL_VIEWS
#define MODEL_VIEWS 0
#endif
#define SEEN(place, number) (MORE_VIEWS + MODEL_VIEWS + (place) * MESSAGES + (number))

View view[MORE_VIEWS + MODEL_VIEWS + LOCATIONS * MESSAGES];
byte said[LOCATIONS * MESSAGES];
byte count[LOCATIONS];
byte pick;
hidden byte each;

#define LAST(place) (count[place] - 1)
#define NEWEST(place) said[(place) * MESSAGES + LAST(place)]

/* The view `to` becomes the later of both, for each location. */
inline join(to, from) {
    each = 0;
    do
    :: each < LOCATIONS ->
        if
        :: view[from].at[each] > view[to].at[each] -> view[to].at[each] = view[from].at[each]
        :: else
        fi;
        each++
    :: else -> break
    od;
    each = 0
}

inline initial(place, what) {
    said[(place) * MESSAGES] = what;
    count[place] = 1
}

inline pick_one(me, place) {
    pick = view[NOW(me)].at[place];
    do
    :: pick < LAST(place) -> pick++
    :: break
    od
}

inline load_relaxed(me, place, result) {
    atomic {
        pick_one(me, place);
        d_step {
            result = said[(place) * MESSAGES + pick];
            view[NOW(me)].at[place] = pick;
            join(COULD(me), SEEN(place, pick));
            join(COULD(me), NOW(me));
            pick = 0
        }
    }
}

inline load_acquire(me, place, result) {
    atomic {
        pick_one(me, place);
        d_step {
            result = said[(place) * MESSAGES + pick];
            view[NOW(me)].at[place] = pick;
            join(NOW(me), SEEN(place, pick));
            join(COULD(me), NOW(me));
            pick = 0
        }
    }
}

/* Inside d_step, as the two below. */
inline append(me, place, what) {
    assert(count[place] < MESSAGES); /* else the bound is too small, and nothing proved */
    said[(place) * MESSAGES + count[place]] = what;
    count[place]++;
    view[NOW(me)].at[place] = LAST(place);
    view[SEEN(place, LAST(place))].at[place] = LAST(place);
    join(COULD(me), NOW(me))
}

inline exchange(me, place, what) {
    join(NOW(me), SEEN(place, LAST(place)));
    append(me, place, what);
    join(SEEN(place, LAST(place)), NOW(me))
}

inline store_relaxed(me, place, what) {
    d_step {
        append(me, place, what);
        join(SEEN(place, LAST(place)), TOLD(me))
    }
}

inline store_release(me, place, what) {
    d_step {
        append(me, place, what);
        join(SEEN(place, LAST(place)), NOW(me))
    }
}

inline fence_acquire(me) {
    d_step { join(NOW(me), COULD(me)) }
}

inline fence_release(me) {
    d_step { join(TOLD(me), NOW(me)) }
}

inline fence_full(me) {
    d_step {
        join(NOW(me), COULD(me));
        join(NOW(me), FENCES);
        join(FENCES, NOW(me));
        join(COULD(me), NOW(me));
        join(TOLD(me), NOW(me))
    }
}

inline swap(me, place, what) {
    d_step { exchange(me, place, what) }
}

/* Compare and swap: `did` says whether the newest value was `expected`, which then is `what`. */
inline compare(me, place, expected, what, did) {
    d_step {
        if
        :: NEWEST(place) == expected ->
            did = true;
            exchange(me, place, what)
        :: else ->
            did = false;
            view[NOW(me)].at[place] = LAST(place);
            join(NOW(me), SEEN(place, LAST(place)));
            join(COULD(me), NOW(me))
        fi
    }
}

/* Inside atomic or d_step: a call of `me` begins; one has ended. */
inline hear(me) {
    join(NOW(me), ACKNOWLEDGED);
    join(COULD(me), ACKNOWLEDGED)
}

inline acknowledge(me) { join(ACKNOWLEDGED, NOW(me)) }
