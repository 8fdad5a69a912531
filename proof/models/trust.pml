/*
 * trust.pml — copies of a machine that learns of changes by messages from a server.
 *
 * Models     Listener of lib/larder/remote/backplane/listener.rb, the pulse of its connection (backplane/pulse.rb), and
 *            reads and fills of copies.rb. Messages and the answers to PINGs come over one connection, in order.
 * Left out   changes by this machine (levels.pml has them); messages that a cluster of servers loses between its nodes;
 *            copies that are used because no server answers at all.
 * Numbers    each change by another machine gets the next number when the remote store applies it. Then it sends the
 *            message, which is lost where nothing is subscribed.
 * Asserts    a read that is answered by a trusted copy answers no number before that of a change whose message was sent
 *            more than TRUSTED ticks before the read began.
 * Bounds     CHANGES by another machine and OTHERS of other keys, READS by processes of this one, PINGS by its listener, TICKS of the clock, CUTS
 *            of the connection. The listener is killed or begins again at any moment, LISTENERS times in all. Every
 *            process may stop for any time at any step.
 *
 * quick: CHANGES=1 READS=2 PINGS=1 TICKS=4
 * full:  CHANGES=1 READS=2 PINGS=2 TICKS=5 LISTENERS=3 CUTS=2
 * full:  CHANGES=1 OTHERS=1 READS=3 PINGS=2 TICKS=4
 *
 * mutation TRUST_AT_MESSAGE CHANGES=1 OTHERS=1 READS=2 PINGS=0 TICKS=4: each message that is read makes copies trusted
 * mutation TRUST_FROM_ANSWER: trust counts from when the answer is read, not from when the PING was sent
 * mutation TRUST_RELATIVE: the listener stores for how long copies are trusted, not until when
 * mutation OTHER_CONNECTION: the PING has a connection of its own, whose answer does not wait for messages
 * mutation NO_CLEAR: a listener that begins leaves the copies
 * mutation CLEAR_FIRST: a listener removes the copies before it is subscribed
 * mutation LEASE_LEFT: a message removes the copy, and leaves the lease of a call that reads the remote store
 * mutation COPY_FIRST: a read looks for the copy before it looks whether copies are trusted
 */
#ifndef CHANGES
#define CHANGES 1
#endif
#ifndef READS
#define READS 2
#endif
#ifndef PINGS
#define PINGS 2
#endif
#ifndef TICKS
#define TICKS 4
#endif
#ifndef CUTS
#define CUTS 1
#endif
#ifndef LISTENERS
#define LISTENERS 2
#endif
#ifndef OTHERS
#define OTHERS 0
#endif
#define TRUSTED 1
#define PONG 99 /* in the stream; messages are numbers of changes */
#define OTHER 98
#define ROOM (CHANGES + PINGS + OTHERS)

byte now = 1;
byte far;                /* the number of the value in the remote store */
byte sent[CHANGES + 1];  /* the tick at which the message of each change was sent; 0: not yet */
byte stream[ROOM];       /* what the server has sent to the listener */
byte queued, taken;
bool subscribed, ping;

byte copy, lease;        /* of the machine's file; the copy's number and 1; 0: none */
byte until;              /* copies are trusted up to this tick */
byte pings;

inline send(message) {
    if
    :: subscribed -> stream[queued] = message; queued++
    :: else
    fi
}

/* A read that begins now must know this change and all before it. */
inline floor_of_now() {
    atomic {
        floor = CHANGES;
        do
        :: floor && !(sent[floor] && now > sent[floor] + TRUSTED) -> floor--
        :: else -> break
        od
    }
}

proctype Machine() {
    byte change, others;
    do
    :: atomic { others < OTHERS -> others++; send(OTHER) }
    :: change < CHANGES ->
        atomic { change++; far = change }
        atomic {
            sent[change] = now;
            send(change)
        }
    :: change == CHANGES -> break
    od
}

proctype Server() {
end:
    do
#ifdef OTHER_CONNECTION
    :: skip -> break
#else
    :: atomic { ping -> ping = false; send(PONG) }
#endif
    od
}

proctype Listener() {
    byte lives, since, got, left;
    do
    :: lives < LISTENERS ->
        atomic {
            lives++;
            subscribed = false;
            ping = false;
            since = 0;
            got = 0;
            left = 0;
            do
            :: queued -> queued--; stream[queued] = 0
            :: else -> break
            od;
            taken = 0;
            until = 0
        }
#ifdef CLEAR_FIRST
        atomic { copy = 0; lease = 0 }
#endif
        if
        :: atomic { pings < PINGS -> pings++; since = now } /* to be sent behind the subscription */
        :: skip
        fi;
        subscribed = true;
#ifndef CLEAR_FIRST
#ifndef NO_CLEAR
        atomic { copy = 0; lease = 0 }
#endif
#endif
        if
        :: since -> ping = true
        :: else
        fi;
end:
        do
        :: atomic { since == 0 && pings < PINGS -> pings++; since = now }
            ping = true
#ifdef OTHER_CONNECTION
        :: atomic { ping -> ping = false }
            atomic { until = since + TRUSTED; since = 0 }
#endif
        :: atomic { taken < queued -> got = stream[taken]; taken++ }
            if
            :: got == PONG ->
#ifdef TRUST_FROM_ANSWER
                atomic { until = now + TRUSTED; since = 0 }
#else
#ifdef TRUST_RELATIVE
                atomic { left = (since + TRUSTED >= now -> 1 + since + TRUSTED - now : 0); since = 0 }
                atomic {
                    if
                    :: left -> until = now + left - 1; left = 0
                    :: else
                    fi
                }
#else
                atomic { until = since + TRUSTED; since = 0 }
#endif
#endif
            :: else ->
                atomic {
                    if
                    :: got != OTHER -> copy = 0;
#ifndef LEASE_LEFT
                        lease = 0
#endif
                    :: else
                    fi
                }
#ifdef TRUST_AT_MESSAGE
                until = now + TRUSTED
#endif
            fi;
            got = 0
        :: lives < LISTENERS -> break /* it is killed, or finds that the connection is closed */
        od
    :: else -> break
    od
}

proctype Reader(byte me) {
    byte reads, floor, answer;
    bool trusted;
    do
    :: reads < READS ->
        reads++;
        floor_of_now();
#ifdef COPY_FIRST
        answer = copy;
        trusted = (until && now <= until);
        if
        :: !trusted -> answer = 0
        :: else
        fi;
#else
        trusted = (until && now <= until);
        atomic {
            if
            :: trusted -> answer = copy
            :: else
            fi
        }
#endif
        if
        :: atomic { answer -> assert(answer - 1 >= floor); answer = 0; trusted = false; floor = 0 }
        :: else ->
            atomic { floor = 0; trusted = false; lease = me }
            answer = far + 1;
            atomic {
                if
                :: lease == me -> copy = answer; lease = 0
                :: else
                fi;
                answer = 0
            }
        fi
    :: else -> break
    od
}

/* The clock, and the connection: what was sent before it is cut can still be read. */
proctype World() {
    byte cuts;
end:
    do
    :: now < TICKS -> now++
    :: atomic { cuts < CUTS && subscribed -> cuts++; subscribed = false }
    od
}

init {
    atomic {
        run Machine();
        run Server();
        run Listener();
        run Reader(1);
        run World()
    }
}
