/*
 * memory.c — shared memory as the explored processes see it.
 *
 * A word is contended after two processes have accessed it and one of them has written it. Only there the order
 * matters, so only there the scheduler is asked. The set of such words grows while executions run; after it has
 * grown, a search starts again.
 *
 * MODEL_TSO keeps each process's stores to contended words in a queue, which compare-and-swaps and full fences
 * drain (Sewell et al., "x86-TSO", 2010). MODEL_WEAK lets them leave the queue in any order, except stores to the
 * same word, and those that a release store or a fence keeps behind earlier ones. A store stays in the queue until
 * another process accesses its word: only then it matters whether it has left, and the scheduler chooses.
 */
#include "../test/internals.h"
#include "schedule.h"
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACES (1u << 16) /* of four bytes */
#define CHANGES (1u << 18)
#define BUFFER 48

bool lard_turn_blind;

typedef struct {
    uint32_t place;
    uint8_t bytes;
    bool release;
    unsigned fence; /* how many release fences of the process came before it */
    uint64_t value;
} waiting_store;

static struct {
    waiting_store stores[BUFFER];
    unsigned count, fences;
} buffers[MOST_PROCESSES];

static uint8_t *base;
static size_t size_bytes;
static uint8_t readers[PLACES], writers[PLACES];
static bool contended[PLACES], grown;
static unsigned contended_count;
static memory_model model;
static uint64_t key, version;
static struct {
    uint32_t place;
    uint8_t bytes;
    uint64_t value;
} changes[CHANGES];
static unsigned change_count;

void memory_begin(uint8_t *at, size_t bytes) {
    base = at;
    size_bytes = bytes;
    if (bytes / 4 > PLACES) {
        abort();
    }
    memset(readers, 0, sizeof readers);
    memset(writers, 0, sizeof writers);
    memset(contended, 0, sizeof contended);
    memset(buffers, 0, sizeof buffers);
    contended_count = change_count = 0;
    grown = false;
    key = version = 0;
}

void memory_model_is(memory_model which) { model = which; }

bool memory_grown(void) {
    bool did = grown;
    grown = false;
    return did;
}

uint64_t memory_version(void) { return version; }
unsigned memory_contended(void) { return contended_count; }

unsigned memory_place(const void *at) {
    size_t place = (size_t)((const uint8_t *)at - base) / 4;
    if (place >= size_bytes / 4) {
        fprintf(stderr, "an access outside the cache: %p\n", at);
        abort();
    }
    return (unsigned)place;
}

static uint64_t raw(unsigned place, unsigned bytes) {
    uint64_t wide;
    uint32_t narrow;
    if (bytes == 8) {
        memcpy(&wide, base + 4ul * place, 8);
        return wide;
    }
    memcpy(&narrow, base + 4ul * place, 4);
    return narrow;
}

static uint64_t part(unsigned place, uint64_t value) { return schedule_mix(value ^ schedule_mix(place + 1ull)); }

static void put(unsigned place, unsigned bytes, uint64_t value) {
    uint64_t old = raw(place, bytes);
    if (change_count == CHANGES) {
        abort();
    }
    changes[change_count].place = place;
    changes[change_count].bytes = (uint8_t)bytes;
    changes[change_count++].value = old;
    memcpy(base + 4ul * place, &value, bytes);
    if (contended[place]) {
        key ^= part(place, old) ^ part(place, raw(place, bytes));
        version++;
    }
}

void memory_reset(void) {
    while (change_count) {
        change_count--;
        memcpy(base + 4ul * changes[change_count].place, &changes[change_count].value,
               changes[change_count].bytes);
    }
    memset(buffers, 0, sizeof buffers);
    key = version = 0;
}

uint64_t memory_key(void) {
    uint64_t sum = key;
    for (unsigned p = 0; p < MOST_PROCESSES; p++) {
        for (unsigned i = 0; i < buffers[p].count; i++) {
            const waiting_store *store = &buffers[p].stores[i];
            sum = schedule_mix(sum + part(store->place, store->value) + p + store->release +
                               (uint64_t)(buffers[p].fences - store->fence) * 8);
        }
    }
    return sum;
}

static void flush(unsigned process, unsigned which) {
    waiting_store store = buffers[process].stores[which];
    schedule_note("  out of its buffer", store.place, store.value);
    put(store.place, store.bytes, store.value);
    buffers[process].count--;
    memmove(&buffers[process].stores[which], &buffers[process].stores[which + 1],
            (buffers[process].count - which) * sizeof store);
}

void memory_drain(unsigned process) {
    while (buffers[process].count) {
        flush(process, 0);
    }
}

static bool may_overtake(const waiting_store *one, const waiting_store *earlier) {
    return model == MODEL_WEAK && one->place != earlier->place && !one->release && one->fence == earlier->fence;
}

static int first_of(unsigned process, unsigned place) {
    for (unsigned i = 0; i < buffers[process].count; i++) {
        if (buffers[process].stores[i].place == place) {
            return (int)i;
        }
    }
    return -1;
}

unsigned memory_in_the_way(unsigned self, unsigned other, unsigned place, bool drains, unsigned *places,
                           unsigned most) {
    unsigned count = 0;
    if (place != NO_PLACE && first_of(other, place) >= 0) {
        places[count++] = place;
    }
    for (unsigned i = 0; drains && i < buffers[self].count && count < most; i++) {
        if (first_of(other, buffers[self].stores[i].place) >= 0) {
            places[count++] = buffers[self].stores[i].place;
        }
    }
    return count;
}

void memory_let_out(unsigned process, unsigned place) {
    bool goes[BUFFER] = {false};
    int last = first_of(process, place);
    if (last < 0) {
        return;
    }
    goes[last] = true;
    for (int i = last; i >= 0; i--) { /* and whatever has to go before it */
        for (int j = 0; goes[i] && j < i; j++) {
            goes[j] |= !may_overtake(&buffers[process].stores[i], &buffers[process].stores[j]);
        }
    }
    for (int i = 0, at = 0; i <= last; i++) {
        if (goes[i]) {
            flush(process, (unsigned)at);
        } else {
            at++;
        }
    }
}

/* Notes who touches the place; true where the scheduler is to be asked, as it was. */
static bool touch(unsigned place, bool writes, bool drains) {
    uint8_t self = (uint8_t)(1u << schedule_current());
    *(writes ? &writers[place] : &readers[place]) |= self;
    uint8_t all = readers[place] | writers[place];
    if (!contended[place] && writers[place] && (all & (all - 1))) {
        contended[place] = true;
        contended_count++;
        grown = true;
    }
    if (!contended[place]) {
        return false;
    }
    schedule_point(place, drains);
    world_first_access();
    return true;
}

/* A process forms a record in its own memory, too (segment/image.c): no other process sees it. No access to hints
 * is a turn. */
static bool is_private(const void *at) {
    return (uintptr_t)at - (uintptr_t)base >= size_bytes &&
           (world_is_hint(at) || world_is_heap(at) || schedule_is_private(at));
}

uint64_t lard_turn_load(const void *at, unsigned bytes) {
    if (is_private(at)) {
        return bytes == 8 ? *(const uint64_t *)at : *(const uint32_t *)at;
    }
    unsigned place = memory_place(at);
    if (!schedule_running || !touch(place, false, false)) {
        return raw(place, bytes);
    }
    unsigned self = schedule_current();
    uint64_t value = raw(place, bytes);
    for (unsigned i = buffers[self].count; i-- > 0;) {
        if (buffers[self].stores[i].place == place) {
            value = buffers[self].stores[i].value;
            break;
        }
    }
    schedule_note("loads", place, value);
    schedule_learned(value);
    return value;
}

void lard_turn_store(void *at, unsigned bytes, uint64_t value, int order) {
    if (is_private(at)) {
        memcpy(at, &value, bytes); /* little-endian, as the file is */
        return;
    }
    unsigned place = memory_place(at);
    value = bytes == 4 ? (uint32_t)value : value;
    if (!schedule_running || !touch(place, true, false)) {
        put(place, bytes, value);
        return;
    }
    unsigned self = schedule_current();
    schedule_note(order == LARD_TURN_RELEASE ? "stores (release)" : "stores", place, value);
    schedule_learned(value + place);
    if (model == MODEL_SC) {
        put(place, bytes, value);
        return;
    }
    if (buffers[self].count == BUFFER) {
        flush(self, 0);
    }
    buffers[self].stores[buffers[self].count++] =
        (waiting_store){place, (uint8_t)bytes, order == LARD_TURN_RELEASE, buffers[self].fences, value};
}

/* The moment of a read-modify-write: everything stored before it is visible then. */
static uint64_t begin_swap(unsigned place, unsigned bytes, bool *asked) {
    *asked = schedule_running && touch(place, true, true);
    if (schedule_running) {
        memory_drain(schedule_current());
    }
    return raw(place, bytes);
}

static void end_swap(const char *what, bool asked, unsigned place, uint64_t old) {
    if (asked) {
        schedule_note(what, place, old);
        schedule_learned(old ^ place);
    }
}

uint64_t lard_turn_swap(void *at, unsigned bytes, uint64_t value) {
    bool asked;
    unsigned place = memory_place(at);
    uint64_t old = begin_swap(place, bytes, &asked);
    put(place, bytes, value);
    end_swap("swaps", asked, place, old);
    return old;
}

uint64_t lard_turn_add(void *at, unsigned bytes, uint64_t value) {
    bool asked;
    unsigned place = memory_place(at);
    uint64_t old = begin_swap(place, bytes, &asked);
    put(place, bytes, old + value);
    end_swap("adds to", asked, place, old);
    return old;
}

bool lard_turn_cas(void *at, unsigned bytes, uint64_t *expected, uint64_t desired) {
    bool asked;
    unsigned place = memory_place(at);
    uint64_t old = begin_swap(place, bytes, &asked);
    bool fits = old == *expected;
    if (fits) {
        put(place, bytes, desired);
    }
    end_swap(fits ? "compares and swaps" : "compares in vain", asked, place, old);
    *expected = old;
    return fits;
}

void lard_turn_fence(int order) {
    if (!schedule_running || model == MODEL_SC || order == LARD_TURN_ACQUIRE) {
        return;
    }
    unsigned self = schedule_current();
    if (order == LARD_TURN_RELEASE) {
        buffers[self].fences++;
    } else if (buffers[self].count) {
        schedule_point(NO_PLACE, true);
        memory_drain(self);
    }
}
