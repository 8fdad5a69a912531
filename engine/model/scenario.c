/*
 * scenario.c — the scenarios that are explored: how each cache is prepared, and what each process does then.
 */
#include "world.h"

#include <stdio.h>
#include <string.h>

static void put(unsigned key, int value) {
    int saw;
    world_do(JUDGE, &(operation){SET, key, value, 0}, &saw);
}

static void nothing(void) {}
static void old_value(void) { put(0, 1); }
static void two_values(void) {
    put(0, 1);
    put(1, 2);
}

static void lease(unsigned process) {
    int saw;
    world_do(process, &(operation){LEASE_OVER, 0, 0, 0}, &saw);
}

static void leased(void) { lease(0); }

static void leased_over_a_value(void) {
    put(0, 1);
    lease(0);
}

static void stamp(unsigned process) {
    int saw;
    world_do(process, &(operation){STAMP, 0, 0, 0}, &saw);
}

static void delete_tag(int other) {
    int saw;
    world_do(JUDGE, &(operation){DELETE_TAG, 0, other, 0}, &saw);
}

static void tagged_value(void) { /* there is a table */
    delete_tag(0);
    stamp(0);
    stamp(JUDGE);
    put(0, TAGGED);
}

static void stamped(void) {
    delete_tag(0);
    stamp(0);
}

static void stamped_and_leased(void) {
    stamped();
    lease(0);
}

/* Its line has no room for another deletion. */
static void tagged_value_and_full_table(void) {
    for (int i = 1; i < 1000; i++) {
        delete_tag(i);
    }
    tagged_value();
}

static void number(void) { /* so that both of its cells were written */
    int saw;
    world_do(JUDGE, &(operation){INCREMENT, 0, 2, 0}, &saw);
    world_do(JUDGE, &(operation){INCREMENT, 0, 3, 0}, &saw);
}

static void touched_value(void) {
    int saw;
    put(0, 1);
    world_do(JUDGE, &(operation){TOUCH, 0, 1, 0}, &saw);
}

static void touched_number(void) {
    int saw;
    number();
    world_do(JUDGE, &(operation){TOUCH, 0, 1, 0}, &saw);
}

static void number_as_text(void) { put(0, NUMBER + 5); }

/* Another key with the same fingerprint, so that only the keys tell them apart. */
static void twins(void) {
    char text[16];
    lard_hash wanted = world_hash(world_key_text(0));
    for (unsigned n = 0;; n++) {
        snprintf(text, sizeof text, "t%07u", n);
        if (world_hash(text).fingerprint == wanted.fingerprint) {
            break;
        }
    }
    world_choose_key(1, text);
    two_values();
}

static uint32_t segment_of(const lard_view *view, uint64_t slot) {
    return (uint32_t)((LARD_SLOT_OFFSET(slot) - view->map->super.data_offset) >> view->map->segment_shift);
}

static unsigned writer_key;

/* Does one more store empty the segment of key 0 and write over it? */
static bool recycles(void) {
    lard_view view = world_view();
    lard_found found = world_find(0);
    if (!found.slot) {
        return false;
    }
    uint64_t inside = LARD_SLOT_OFFSET(found.value) - view.map->super.data_offset;
    lard_segment *row = &view.segments[segment_of(&view, found.value)];
    uint64_t sequence = lard_load(&row->sequence);
    put(writer_key, 90);
    return lard_load(&row->sequence) != sequence && lard_load(&row->state) != LARD_SEGMENT_FREE &&
           lard_load(&row->write_offset) > (inside & (view.map->super.segment_bytes - 1));
}

static bool recycles_and_keeps(void) {
    uint64_t before = world_find(0).value;
    return recycles() && world_find(0).slot && world_find(0).value != before;
}

static void fail_to_prepare(const char *what) {
    fprintf(stderr, "no cache could be prepared in which a store %s\n", what);
    fflush(NULL);
    __builtin_trap();
}

#define FILLER_BYTES 656u /* of value: six records to a segment */

static void put_key(void) { put(0, 1); }

static void put_and_read_key(void) {
    int saw;
    put(0, 1);
    world_do(JUDGE, &(operation){GET, 0, 0, 0}, &saw);
}

static void lease_key(void) {
    int saw;
    world_do(JUDGE, &(operation){DELETE, 0, 0, 0}, &saw);
    lease(0);
}

static void fill_until(bool (*predicate)(void), void (*renew)(void), const char *what) {
    unsigned number = 0;
    for (; number < 60; number++) {
        world_fill(number, FILLER_BYTES);
    }
    for (unsigned round = 0; round < 40; round++) {
        renew();
        for (unsigned more = 0; more < 60 && world_find(0).slot; more++) {
            if (world_try(predicate)) {
                return;
            }
            world_fill(number++, FILLER_BYTES);
        }
    }
    fail_to_prepare(what);
}

static void about_to_be_recycled(void) {
    writer_key = 1;
    fill_until(recycles, put_key, "recycles the segment of another key");
}

static void about_to_recycle_itself(void) {
    writer_key = 0;
    fill_until(recycles, put_key, "recycles the segment of its own key");
}

static void about_to_be_kept(void) {
    writer_key = 1;
    fill_until(recycles_and_keeps, put_and_read_key, "moves another key out of its segment and recycles that");
}

static void placeholder_about_to_be_kept(void) {
    writer_key = 1;
    fill_until(recycles_and_keeps, lease_key, "moves a placeholder out of its segment and recycles that");
}

static void put_tagged_and_read_it(void) {
    int saw;
    put(0, TAGGED);
    world_do(JUDGE, &(operation){GET, 0, 0, 0}, &saw);
}

static void tagged_about_to_be_kept(void) {
    stamped();
    stamp(JUDGE);
    writer_key = 1;
    fill_until(recycles_and_keeps, put_tagged_and_read_it,
               "moves an item with tags out of its segment and recycles that");
}

static lard_found found_before;
static uint32_t count_before;

static bool changes_bucket(void) {
    found_before = world_find(0);
    put(1, 9);
    return found_before.slot && world_find(0).slot && world_find(0).slot != found_before.slot;
}

static bool splits(void) {
    lard_view view = world_view();
    count_before = lard_load(&view.header->bucket_count);
    return changes_bucket() && lard_load(&view.header->bucket_count) > count_before;
}

static bool pushes(void) {
    lard_view view = world_view();
    count_before = lard_load(&view.header->bucket_count);
    return changes_bucket() && lard_load(&view.header->bucket_count) == count_before;
}

/* The first name from a number on whose buckets, of `count`, are these two. */
static unsigned named(char text[16], unsigned from, uint32_t count, uint32_t one, uint32_t other) {
    for (;; from++) {
        snprintf(text, 16, "fill%04u", from);
        lard_hash hash = world_hash(text);
        uint32_t first = lard_bucket_of(hash.first, count), second = lard_bucket_of(hash.second, count);
        if (first == one && second == other) {
            return from;
        }
    }
}

static void about_to_split(void) {
    char text[16];
    named(text, 5000, 3, 2, 2); /* of the bucket that comes next */
    world_choose_key(0, text);
    put(0, 1);
    for (unsigned n = 0; n < 40; n++) {
        if (world_try(splits)) {
            return;
        }
        world_fill(n, 8);
    }
    fail_to_prepare("splits the bucket of another key");
}

static void about_to_be_pushed(void) {
    char text[16];
    unsigned from = 0;
    lard_view view = world_view();
    lard_store(&view.header->bucket_count, 4);
    named(text, 5000, 4, 0, 2);
    world_choose_key(0, text);
    named(text, 6000, 4, 0, 1);
    world_choose_key(1, text);
    put(0, 1);
    for (unsigned n = 0; n < 40; n++) {
        if (world_try(pushes)) {
            return;
        }
        from = named(text, from, 4, n & 1, !(n & 1));
        world_fill(from++, 8);
    }
    fail_to_prepare("moves another key to its other bucket");
}

#define NO_MORE \
    { GET, 0, 0, 0 }
#define GETS(k) \
    { GET, k, 0, 0 }
#define SETS(k, v) \
    { SET, k, v, 0 }
#define ADDS(k, v) \
    { ADD, k, v, 0 }
#define ADDS_EXPIRED(k) \
    { ADD_EXPIRED, k, 2, 0 }
#define REPLACES_EXPIRED(k) \
    { REPLACE_EXPIRED, k, 2, 0 }
#define DELETES(k) \
    { DELETE, k, 0, 0 }
#define INCREMENTS(k, n) \
    { INCREMENT, k, n, 0 }
#define TOUCHES(k, life) \
    { TOUCH, k, life, 0 }
#define SWAPS(k, from, to) \
    { CAS, k, to, from }
#define LEASES(k) \
    { LEASE, k, 0, 0 }
#define LEASES_LATE(k) \
    { LEASE_LATE, k, 0, 0 }
#define LEASES_OVER(k) \
    { LEASE_OVER, k, 0, 0 }
#define FILLS(k, v) \
    { FILL, k, v, 0 }
#define STAMPS \
    { STAMP, 0, 0, 0 }
#define DELETES_TAG \
    { DELETE_TAG, 0, 0, 0 }
#define DELETES_OTHER_TAG(n) \
    { DELETE_TAG, 0, n, 0 }
#define ENDS(k) \
    { END, k, 0, 0 }
#define ONE(...) \
    { {__VA_ARGS__}, 1, false }
#define TWO(...) \
    { {__VA_ARGS__}, 2, false }
#define THREE(...) \
    { {__VA_ARGS__}, 3, false }
#define MORTAL(...) \
    { {__VA_ARGS__}, 1, true }
#define MORTAL_TWO(...) \
    { {__VA_ARGS__}, 2, true }
#define MAY_FORGET(k) (1u << (k))
#define ANY ((1u << KEYS) - 1)

/* clang-format off */
const scenario scenarios[] = {
    {.name = "two reads while the key is set", old_value, {ONE(SETS(0, 2)), TWO(GETS(0), GETS(0))}},
    {.name = "reads while the key is deleted and set", old_value,
     {TWO(DELETES(0), SETS(0, 2)), TWO(GETS(0), GETS(0))}},
    {.name = "a read, a delete, a set", old_value, {ONE(GETS(0)), ONE(DELETES(0)), ONE(SETS(0, 2))}},
    {.name = "a delete between two sets", old_value, {ONE(DELETES(0)), ONE(SETS(0, 2)), ONE(SETS(0, 3))}},
    {.name = "reads while the segment is emptied, raised and written over", about_to_be_recycled,
     {ONE(SETS(1, 90)), TWO(GETS(0), GETS(0))}, .forgettable = MAY_FORGET(0)},
    {.name = "reads while a set recycles the segment of its own key", about_to_recycle_itself,
     {ONE(SETS(0, 90)), TWO(GETS(0), GETS(0))}, .forgettable = MAY_FORGET(0)},
    {.name = "reads by one new to the cache while a set recycles the segment of its own key", about_to_recycle_itself,
     {ONE(SETS(0, 90)), TWO(GETS(0), GETS(0))}, .forgettable = MAY_FORGET(0), .strangers = true},
    {.name = "reads while eviction keeps the item and recycles its segment", about_to_be_kept,
     {ONE(SETS(1, 90)), TWO(GETS(0), GETS(0))}},
    {.name = "a delete while eviction keeps the item and recycles its segment", about_to_be_kept,
     {ONE(SETS(1, 90)), TWO(DELETES(0), GETS(0))}},
    {.name = "reads while the index splits", about_to_split, {ONE(SETS(1, 9)), TWO(GETS(0), GETS(0))}},
    {.name = "a delete while the index splits", about_to_split, {ONE(SETS(1, 9)), TWO(DELETES(0), GETS(0))}},
    {.name = "a delete and a read while the index splits", about_to_split,
     {ONE(SETS(1, 9)), ONE(DELETES(0)), ONE(GETS(0))}},
    {.name = "reads while the item moves to its other bucket", about_to_be_pushed,
     {ONE(SETS(1, 9)), TWO(GETS(0), GETS(0))}},
    {.name = "a delete while the item moves to its other bucket", about_to_be_pushed,
     {ONE(SETS(1, 9)), TWO(DELETES(0), GETS(0))}},
    {.name = "a delete and a set while the item moves", about_to_be_pushed,
     {ONE(SETS(1, 9)), TWO(DELETES(0), SETS(0, 2)), ONE(GETS(0))}},
    {.name = "two increments and a read", number, {ONE(INCREMENTS(0, 1)), ONE(INCREMENTS(0, 1)), ONE(GETS(0))}},
    {.name = "two increments in a row, two reads", number,
     {TWO(INCREMENTS(0, 1), INCREMENTS(0, 1)), TWO(GETS(0), GETS(0))}},
    {.name = "first increments", nothing, {ONE(INCREMENTS(0, 1)), ONE(INCREMENTS(0, 1)), ONE(GETS(0))}},
    {.name = "an increment of text and a delete", number_as_text,
     {ONE(INCREMENTS(0, 1)), ONE(DELETES(0)), ONE(GETS(0))}},
    {.name = "two compare-and-swaps", old_value, {ONE(SWAPS(0, 1, 2)), ONE(SWAPS(0, 1, 3)), ONE(GETS(0))}},
    {.name = "a compare-and-swap, there and back", old_value,
     {ONE(SWAPS(0, 1, 3)), TWO(SETS(0, 2), SETS(0, 1))}},
    {.name = "a compare-and-swap of a number and an increment", number,
     {ONE(SWAPS(0, NUMBER + 5, 2)), ONE(INCREMENTS(0, 1))}},
    {.name = "a compare-and-swap that names the life, a touch, a read", touched_value,
     {ONE(SWAPS(0, LIFE + 1, 2)), ONE(TOUCHES(0, 2)), ONE(GETS(0))}},
    {.name = "a compare-and-swap of a number that names the life, a touch", touched_number,
     {ONE(SWAPS(0, LIFE + NUMBER + 5, 2)), TWO(TOUCHES(0, 2), GETS(0))}},
    {.name = "a compare-and-swap of a number that names the life, a touch, an increment", touched_number,
     {ONE(SWAPS(0, LIFE + NUMBER + 5, 2)), TWO(TOUCHES(0, 2), INCREMENTS(0, 1)), ONE(GETS(0))}},
    {.name = "two touches, reads", touched_value, {ONE(TOUCHES(0, 2)), ONE(TOUCHES(0, 3)), TWO(GETS(0), GETS(0))}},
    {.name = "two adds and a read", nothing, {ONE(ADDS(0, 2)), ONE(ADDS(0, 3)), ONE(GETS(0))}},
    {.name = "an add and a delete", old_value, {ONE(ADDS(0, 2)), ONE(DELETES(0)), ONE(GETS(0))}},
    {.name = "an add of what has expired and another's add", nothing, {ONE(ADDS_EXPIRED(0)), TWO(ADDS(0, 3), GETS(0))}},
    {.name = "a replace by what has expired, a delete, an add", old_value,
     {ONE(REPLACES_EXPIRED(0)), TWO(DELETES(0), ADDS(0, 3)), ONE(GETS(0))}},
    {.name = "a touch, a set, a read", old_value, {ONE(TOUCHES(0, 1)), ONE(SETS(0, 2)), ONE(GETS(0))}},
    {.name = "a clear, a set, a read", old_value, {ONE({CLEAR, 0, 0, 0}), ONE(SETS(0, 2)), ONE(GETS(0))}},
    {.name = "a clear and a set, a delete", old_value,
     {TWO({CLEAR, 0, 0, 0}, SETS(0, 2)), TWO(DELETES(0), GETS(0))}},
    {.name = "writers of two keys in one bucket", nothing, {ONE(SETS(0, 2)), ONE(SETS(1, 3)), ONE(GETS(0))}},
    {.name = "two keys of one fingerprint", twins, {ONE(SETS(0, 3)), ONE(DELETES(1)), TWO(GETS(0), GETS(1))}},
    {.name = "reads of a large value while it is overwritten", old_value,
     {ONE(SETS(0, 2)), ONE(GETS(0))}, .long_values = true},
    {.name = "a large value is deleted while it is read", old_value,
     {ONE(DELETES(0)), TWO(GETS(0), GETS(0))}, .long_values = true},
    {.name = "a large value is overwritten and deleted", old_value, {ONE(SETS(0, 2)), TWO(DELETES(0), GETS(0))}, .long_values = true},
    {.name = "a set that is refused, for another holds the lock", old_value,
     {ONE(SETS(1, 3)), TWO(SETS(0, 2), GETS(0))}},
    {.name = "a lock changes hands though its owner died", old_value,
     {MORTAL(SETS(0, 2)), ONE(SETS(1, 3)), ONE(GETS(0))}},
    {.name = "two repair what a dead set left", old_value,
     {MORTAL(SETS(0, 2)), ONE(SETS(0, 3)), ONE(SETS(1, 4))}},
    {.name = "a delete beside a dead set and its repair", old_value,
     {MORTAL(SETS(0, 2)), ONE(DELETES(0)), ONE(SETS(1, 4))}},
    {.name = "a split whose owner died, a repair, a delete", about_to_split,
     {MORTAL(SETS(1, 9)), TWO(DELETES(0), GETS(0)), ONE(SETS(2, 4))}, .forgettable = MAY_FORGET(0)},
    {.name = "a move whose owner died, a repair, a delete", about_to_be_pushed,
     {MORTAL(SETS(1, 9)), TWO(DELETES(0), GETS(0)), ONE(SETS(2, 4))}, .forgettable = ANY},
    {.name = "an eviction whose owner died, a repair, reads", about_to_be_kept,
     {MORTAL(SETS(1, 90)), TWO(GETS(0), GETS(0)), ONE(SETS(2, 4))}, .forgettable = MAY_FORGET(0)},
    {.name = "an increment whose owner died, another", number,
     {MORTAL(INCREMENTS(0, 1)), ONE(INCREMENTS(0, 1)), ONE(GETS(0))}},
    {.name = "two take the lease of a key and fill it, a read", nothing,
     {TWO(LEASES(0), FILLS(0, 2)), TWO(LEASES(0), FILLS(0, 3)), ONE(GETS(0))}},
    {.name = "a delete while a value is computed", leased, {ONE(FILLS(0, 2)), TWO(DELETES(0), GETS(0))}, .leased = 1},
    {.name = "a delete and the next lease while a value is computed", leased,
     {ONE(FILLS(0, 2)), ONE(DELETES(0)), TWO(LEASES(0), FILLS(0, 3))}, .leased = 1},
    {.name = "a set, an add and a clear while a value is computed", leased,
     {ONE(FILLS(0, 2)), ONE(SETS(0, 3)), TWO(ADDS(0, 4), {CLEAR, 0, 0, 0})}, .leased = 1},
    {.name = "an increment while a value is computed", leased,
     {ONE(FILLS(0, 2)), ONE(INCREMENTS(0, 1)), ONE(GETS(0))}, .leased = 1},
    {.name = "an owner beyond its lease, the next one, a delete", leased,
     {ONE(FILLS(0, 2)), TWO(LEASES_LATE(0), FILLS(0, 3)), ONE(DELETES(0))}, .leased = 1},
    {.name = "a lease that is ended, and the next one", leased,
     {ONE(ENDS(0)), TWO(LEASES(0), FILLS(0, 3)), ONE(DELETES(0))}, .leased = 1},
    {.name = "a value that is replaced under a lease, reads, a delete", leased_over_a_value,
     {ONE(FILLS(0, 2)), TWO(GETS(0), GETS(0)), ONE(DELETES(0))}, .leased = 1},
    {.name = "two take the lease of a value, a delete", old_value,
     {TWO(LEASES_OVER(0), FILLS(0, 2)), TWO(LEASES_OVER(0), FILLS(0, 3)), ONE(DELETES(0))}},
    {.name = "a lease of a value that ends while it is touched", leased_over_a_value,
     {ONE(ENDS(0)), ONE(TOUCHES(0, 2)), ONE(GETS(0))}, .leased = 1},
    {.name = "a large value is replaced under a lease, a delete", leased_over_a_value,
     {ONE(FILLS(0, 2)), TWO(DELETES(0), GETS(0))}, .long_values = true, .leased = 1},
    {.name = "a placeholder is moved while its value is stored", placeholder_about_to_be_kept,
     {TWO(FILLS(0, 2), GETS(0)), ONE(SETS(1, 90))}, .leased = 1},
    {.name = "a placeholder is moved while it is deleted, a fill", placeholder_about_to_be_kept,
     {ONE(FILLS(0, 2)), ONE(SETS(1, 90)), TWO(DELETES(0), GETS(0))}, .leased = 1},
    {.name = "an owner of a lease that died, the next one", nothing,
     {MORTAL_TWO(LEASES(0), FILLS(0, 2)), TWO(LEASES(0), FILLS(0, 3)), ONE(GETS(0))}},
    {.name = "an owner that died while it stored, the next one, a delete", leased,
     {MORTAL(FILLS(0, 2)), TWO(LEASES(0), FILLS(0, 3)), ONE(DELETES(0))}, .leased = 1},
    {.name = "reads of a value whose tag is deleted", tagged_value, {ONE(DELETES_TAG), TWO(GETS(0), GETS(0))}},
    {.name = "a tag is deleted while a value of it is computed, a read", stamped,
     {ONE(SETS(0, TAGGED)), ONE(DELETES_TAG), ONE(GETS(0))}},
    {.name = "a stamp and a set while a tag is deleted, reads", tagged_value,
     {TWO(STAMPS, SETS(0, TAGGED + 1)), ONE(DELETES_TAG), TWO(GETS(0), GETS(0))}},
    {.name = "two deletions of a tag, a stamp and a set", tagged_value,
     {TWO(STAMPS, SETS(0, TAGGED + 1)), ONE(DELETES_TAG), TWO(DELETES_TAG, GETS(0))}},
    {.name = "deletions of two tags, reads", tagged_value,
     {ONE(DELETES_TAG), ONE(DELETES_OTHER_TAG(7)), TWO(GETS(0), GETS(0))}},
    {.name = "a clear, the deletion of a tag, and a set that was computed before", tagged_value,
     {ONE(SETS(0, TAGGED + 1)), TWO({CLEAR, 0, 0, 0}, GETS(0)), ONE(DELETES_TAG)}},
    {.name = "a set with tags over a clear", stamped,
     {TWO(SETS(0, TAGGED), GETS(0)), ONE({CLEAR, 0, 0, 0}), ONE(GETS(0))}},
    {.name = "a tag is deleted while a value of it is computed under a lease", stamped_and_leased,
     {ONE(FILLS(0, TAGGED)), ONE(DELETES_TAG), ONE(GETS(0))}, .leased = 1},
    {.name = "a deletion of a tag whose process died, another, a read", tagged_value,
     {MORTAL(DELETES_TAG), ONE(DELETES_OTHER_TAG(7)), TWO(GETS(0), GETS(0))}},
    {.name = "a deletion of a tag whose process died, a set and its deletion", tagged_value,
     {MORTAL(DELETES_TAG), TWO(STAMPS, SETS(0, TAGGED + 1)), TWO(DELETES_TAG, GETS(0))}},
    {.name = "a tag is deleted while its item is moved", tagged_about_to_be_kept,
     {ONE(SETS(1, 90)), TWO(DELETES_TAG, GETS(0))}, .forgettable = MAY_FORGET(0)},
    {.name = "a delete of an item and one of its tag", tagged_value,
     {ONE(DELETES(0)), ONE(DELETES_TAG), ONE(GETS(0))}},
    {.name = "a tag is deleted for which another is forgotten", tagged_value_and_full_table,
     {ONE(DELETES_OTHER_TAG(7777)), ONE(DELETES_TAG), TWO(GETS(0), GETS(0))}},
    {.name = "two reads while the key is set by pwrite", old_value, {ONE(SETS(0, 2)), TWO(GETS(0), GETS(0))},
     .images = true},
    {.name = "reads while a pwrite recycles the segment", about_to_be_recycled,
     {ONE(SETS(1, 90)), TWO(GETS(0), GETS(0))}, .forgettable = MAY_FORGET(0), .images = true},
    {.name = "reads by one new to the cache while a pwrite recycles the segment of its own key",
     about_to_recycle_itself, {ONE(SETS(0, 90)), TWO(GETS(0), GETS(0))}, .forgettable = MAY_FORGET(0),
     .strangers = true, .images = true},
    {.name = "reads while eviction moves the item by pwrite and recycles its segment", about_to_be_kept,
     {ONE(SETS(1, 90)), TWO(GETS(0), GETS(0))}, .images = true},
    {.name = "a delete while eviction moves the item by pwrite", about_to_be_kept,
     {ONE(SETS(1, 90)), TWO(DELETES(0), GETS(0))}, .images = true},
    {.name = "a touch, a set by pwrite, a read", old_value, {ONE(TOUCHES(0, 1)), ONE(SETS(0, 2)), ONE(GETS(0))},
     .images = true},
    {.name = "two compare-and-swaps by pwrite", old_value, {ONE(SWAPS(0, 1, 2)), ONE(SWAPS(0, 1, 3)), ONE(GETS(0))},
     .images = true},
    {.name = "reads of a large value while it is overwritten by pwrite", old_value,
     {ONE(SETS(0, 2)), ONE(GETS(0))}, .long_values = true, .images = true},
    {.name = "two repair what a dead pwrite left", old_value,
     {MORTAL(SETS(0, 2)), ONE(SETS(0, 3)), ONE(SETS(1, 4))}, .images = true},
    {.name = "a pwrite whose owner died, a read, a repair, a read", about_to_recycle_itself,
     {MORTAL(SETS(0, 90)), THREE(GETS(0), SETS(2, 4), GETS(0))}, .forgettable = MAY_FORGET(0), .images = true},
    {.name = "a move by pwrite whose owner died, a read, a repair, a read", about_to_be_kept,
     {MORTAL(SETS(1, 90)), THREE(GETS(0), SETS(2, 4), GETS(0))}, .forgettable = MAY_FORGET(0), .images = true},
    {.name = "a large value whose owner died in a pwrite, a read, another", old_value,
     {MORTAL(SETS(0, 2)), THREE(GETS(0), SETS(0, 3), GETS(0))}, .long_values = true, .images = true},
};
/* clang-format on */
const unsigned scenario_count = sizeof scenarios / sizeof *scenarios;
