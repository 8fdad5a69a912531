/*
 * world.h — the small cache that is explored, its operations, its scenarios and their judge.
 */
#ifndef LARD_WORLD_H
#define LARD_WORLD_H

#include "../test/internals.h"
#include "schedule.h"

#define KEYS 4 /* that scenarios name; others are fillers */
#define MOST_OPERATIONS 8
#define NUMBER 1000 /* what a key holds: 0 nothing, below NUMBER a value, else the number NUMBER + n */
#define LIFE 10000  /* times n, added to what a key holds: a touch gave it its nth life */
#define TAGGED 20   /* from this value on, up to 29, they have the tag that DELETE_TAG deletes */
#define TORN (-1)

/* ..._EXPIRED: with a negative time to live */
typedef enum {
    GET,
    EXISTS,
    SET,
    ADD,
    REPLACE,
    CAS,
    DELETE,
    INCREMENT,
    TOUCH,
    CLEAR,
    PRUNE,
    ADD_EXPIRED,
    REPLACE_EXPIRED,
    LEASE,      /* takes the lease of an absent key */
    LEASE_LATE, /* the same when all leases before have ended by time */
    LEASE_OVER, /* the same also of a key that has a value */
    FILL,       /* stores under the lease that the process has taken */
    END,        /* ends that lease */
    STAMP,      /* takes a stamp, for what the process stores with tags */
    DELETE_TAG, /* deletes the tag of tagged values; with a `value` another tag */
} verb;

typedef struct {
    verb verb;
    unsigned key;
    int value;    /* to store, to add, or which life TOUCH gives */
    int expected; /* of CAS; with a life: and that one */
} operation;

typedef struct { /* one operation of an execution */
    operation what;
    unsigned process;
    bool begun, done;
    bool timed_out;  /* it waited in vain for a while, so it may be refused */
    unsigned before; /* those that were done when it began */
    larder_status status;
    int saw;
} event;

typedef struct {
    const char *name;
    void (*prepare)(void);
    struct {
        operation operations[3];
        unsigned count;
        bool may_die;
    } processes[MOST_PROCESSES];
    unsigned forgettable; /* keys that may be gone at any time: a bit each */
    bool long_values;     /* in chunks */
    bool images;          /* records are written by pwrite(2) */
    bool strangers;       /* the processes do not know yet where the buckets are */
    unsigned leased;      /* the process + 1 that has the lease of key 0 at the beginning; 0: none */
} scenario;

extern const scenario scenarios[];
extern const unsigned scenario_count;

/* world.c */
#define JUDGE MOST_PROCESSES /* a process that takes no part */
void world_make(const scenario *what);
void world_prepared(bool strangers); /* from here each execution begins */
void world_restore(void);
larder *world_process(unsigned number);
lard_view world_view(void);
bool world_is_hint(const void *at); /* no promise needs the order in which hints are read and written */
bool world_is_heap(const void *at); /* memory of an operation */
const char *world_key_text(unsigned key);
void world_choose_key(unsigned key, const char *text);
larder_status world_do(unsigned process, const operation *what, int *saw);
larder_status world_fill(unsigned number, size_t bytes);
lard_hash world_hash(const char *text);
lard_found world_find(unsigned key);
bool world_try(bool (*predicate)(void)); /* then as before */
bool world_is_sound(char *why, size_t bytes);

/* litmus.c — how many small programs show in this memory what they should; 0 where one does not */
unsigned litmus_agree(memory_model model);

/* judge.c — is there an order of the operations that explains what each one answered? */
bool judge_explains(const event *events, unsigned count, const int *first, const scenario *of);

#endif
