/*
 * fast_options.h — the options of a call, read from the Hash.
 */
#ifndef LARDER_FAST_OPTIONS_H
#define LARDER_FAST_OPTIONS_H

#include "value/plain.h"

typedef struct fast_options {
    VALUE namespace; /* nil, a String, or what answers or becomes one: a Proc, a Symbol */
    VALUE version;   /* of the call; nil: that of the name */
    plain_life life;
    bool skip_nil;
    bool compress;
    bool single_flight;         /* a miss goes to Store::Computation */
    bool single_flight_of_call; /* also one of read */
    bool keeps;                 /* what is written is kept when it is stale: Store::LocalLevel writes it */
    bool tagged;                /* has tags: Store::Tags writes it */
    bool early;                 /* early_refresh */
    bool raw;                   /* a second level alone has the value */
    bool stale_of_call;         /* stale_while_revalidate is an option of the call */
    double stale;               /* stale_while_revalidate in seconds; 0: none */
} fast_options;

void fast_options_init(VALUE module);

/* Nothing, keywords, or a Hash without a default: in one with a default, Rails finds options that are not in it.
 */
bool fast_options_are_simple(VALUE call_options);

/* Is it exactly a Hash, and one without a default? */
bool fast_options_hold_all(VALUE options);

/* The store's options with the call's (nil or a Hash) over them. False: the call asks for more than is simple. */
bool fast_options_merge(VALUE store_options, VALUE call_options, fast_options *options);

/* The same of a Hash that has all options of the store already, as from fast_options_hash(). */
bool fast_options_take(VALUE hash, fast_options *options);

/* What Rails' merged_options would answer, for a block to see: a new Hash. */
VALUE fast_options_hash(VALUE store_options, VALUE call_options);

/* Puts the same into a Hash. */
void fast_options_into(VALUE store_options, VALUE call_options, VALUE hash);

/* A WriteOptions over such a Hash. */
VALUE fast_options_writable(VALUE hash);

/* True if the block has set tags. */
bool fast_options_have_tags(VALUE hash);

#endif
