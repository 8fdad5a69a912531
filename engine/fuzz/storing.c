/*
 * storing.c — operations that store a key, checked against the model (operations.h).
 *
 * It decides what a command's fields mean, which results are allowed, and what the model holds afterwards.
 */
#include "operations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORK = 8 << 20, ORDINARY = 8192 - 16 }; /* bytes of key and value in one record */

static unsigned char value_bytes[MODEL_MOST_VALUE + 8];
static uint32_t stamps;

void operations_begin(void) { stamps = 0; }

/* ---- what the fields mean ---- */

unsigned operations_key(uint16_t number) { return number % (MODEL_KEYS - 1); }

const larder_call *operations_call(const command *c) {
    static larder_call call;
    call = (larder_call){.now_ms = c->a & 1 ? world_now_ms : 0, .flags = c->a & 2 ? LARDER_CALL_TRY : 0};
    return c->a & 3 ? &call : NULL;
}

int64_t operations_ttl(const command *c) {
    int64_t some = 1 + (int64_t)(c->n >> 4 & 0x3fff);
    switch (c->a >> 2 & 7) {
    case 0:
    case 1:
        return some;
    case 2:
        return c->n & 1 ? LARDER_MAX_TTL_MS : 86400000;
    case 3:
        return -some;
    default:
        return 0;
    }
}

static size_t size_of(const command *c, size_t key_bytes) {
    size_t most = pinning_chosen(c) ? larder_max_pinned(cache) - key_bytes : larder_max_value(cache);
    size_t n = c->n & 0xfffffff;
    if (worked > MOST_WORK) {
        return n % 200;
    }
    switch (c->n >> 28) {
    case 0:
        return 0;
    case 1:
    case 2:
        return n % 16;
    case 3:
    case 4:
    case 5:
        return n % 200;
    case 6:
    case 7:
        return n % 1000;
    case 8:
        return n % 8192;
    case 9: /* about where values begin to be cut */
        return (key_bytes < 4096 ? ORDINARY - key_bytes : ORDINARY - 4096) + n % 17 - 8;
    case 10:
        return n % 40000;
    case 11:
        return n % most;
    case 12: /* about the largest there may be */
        return most - 4 + n % 6;
    default:
        return n % 100;
    }
}

static size_t literal_of(const command *c, char out[MODEL_TEXT]) {
    static const char *const texts[] = {"0",
                                        "7",
                                        "-1",
                                        "+5",
                                        "-0",
                                        "",
                                        "-",
                                        "+",
                                        "12a",
                                        " 1",
                                        "00042",
                                        "9223372036854775807",
                                        "9223372036854775808",
                                        "-9223372036854775808",
                                        "-9223372036854775809",
                                        "99999999999999999999999"};
    return (size_t)snprintf(out, MODEL_TEXT, "%s", texts[c->n % 16]);
}

int64_t operations_expiry(int64_t ttl_ms) { return ttl_ms ? world_now_ms + ttl_ms : 0; }

/* ---- what all of them share ---- */

void operations_attempt_at(unsigned key, const model_entry *entry) {
    attempts[attempt_count++] = (operations_attempt){key, *entry};
}

bool operations_is_large(const model_entry *entry) {
    return !entry->counter && !entry->pinned && entry->bytes + 4096 > ORDINARY;
}

void operations_stored(unsigned key, const model_entry *entry, uint64_t evictions_before) {
    model[key] = *entry;
    model_seen(cache, key);
    if (operations_is_large(entry)) { /* it may have pushed its own beginning out */
        model[key].evictions = evictions_before;
        appended += entry->bytes / 512 * 64;
        appended +=
            entry->bytes > larder_max_value(cache) / 3 ? entry->bytes : 0; /* makes room for itself early */
    }
    appended += 4096 + 64 + entry->bytes;
    EXPECT(appended > larder_max_value(cache) * 4 || model_evictions(cache) == model_doubts,
           "evicted with %llu bytes written", (unsigned long long)appended);
}

void operations_refused(unsigned key, const model_entry *wanted, larder_status status, bool overwrites,
                        const larder_call *call) {
    bool try = call && (call->flags & LARDER_CALL_TRY);
    if (status == LARDER_BUSY) {
        EXPECT(try || world_stopped, "key %u: busy, but nobody has the lock", key);
        overwrites = overwrites && !try;
    } else {
        EXPECT((status == LARDER_VALUE_TOO_LARGE || status == LARDER_FULL || status == LARDER_PIN_FULL) &&
                   wanted && pinning_may_be_refused(key, wanted, status),
               "key %u: %s of %zu bytes", key, larder_status_name(status), wanted ? wanted->bytes : 0);
    }
    model[key].present = model[key].present && !overwrites;
}

/* ---- storing ---- */

static model_entry entry_of(const command *c, unsigned key, size_t key_bytes, larder_store *store) {
    model_entry entry = {
        .present = true, .stamp = ++stamps, .flags = c->a & 32 ? (uint8_t)c->n : 0, .pinned = pinning_chosen(c)};
    int64_t ttl_ms = operations_ttl(c);
    size_t bytes;
    if (c->a & 64) {
        entry.text = true;
        entry.bytes = literal_of(c, entry.literal);
    } else {
        entry.bytes = size_of(c, key_bytes);
    }
    entry.expires_ms = operations_expiry(ttl_ms);
    memcpy(value_bytes, model_value(&entry, key, &bytes), entry.bytes);
    worked += bytes;
    *store = (larder_store){
        .value = value_bytes, .value_bytes = bytes, .ttl_ms = ttl_ms, .flags = entry.flags, .pin = entry.pinned};
    return entry;
}

void operation_store(const command *c, larder_mode mode) {
    unsigned char name[LARDER_MAX_KEY + 1];
    unsigned key = operations_key(c->key);
    size_t key_bytes = model_key(key, name);
    const larder_call *call = operations_call(c);
    larder_store store;
    model_entry entry = entry_of(c, key, key_bytes, &store);
    uint64_t evictions = model_evictions(cache);
    store.key = name;
    store.key_bytes = key_bytes;
    store.mode = (uint8_t)mode;
    entry.present = store.ttl_ms >= 0;
    operations_attempt_at(key, &entry);
    larder_status status = larder_set(cache, &store, call);
    bool was = model_alive(&model[key]);
    if (status == LARDER_NOT_STORED) {
        EXPECT(mode == LARDER_REPLACE || (mode == LARDER_ADD && was), "key %u: mode %d did not hold", key, mode);
        if (mode == LARDER_REPLACE) {
            model_forgotten(cache, key);
        }
        return;
    }
    if (status != LARDER_OK) {
        operations_refused(key, &entry, status, mode != LARDER_ADD, call);
        return;
    }
    if (mode == LARDER_ADD && was) {
        model_forgotten(cache, key);
    }
    EXPECT(mode != LARDER_REPLACE || was, "key %u was replaced", key);
    if (entry.present) {
        operations_stored(key, &entry, evictions);
    } else {
        model[key].present = false;
    }
}

void operation_set_multi(const command *c) {
    static unsigned char names[OPERATIONS_MOST][LARDER_MAX_KEY + 1];
    static unsigned char values[OPERATIONS_MOST][1024];
    larder_store stores[OPERATIONS_MOST];
    unsigned count = 1 + (c->n >> 16) % OPERATIONS_MOST, step = 1 + (c->n >> 10) % 3, done = 0;
    size_t said;
    const larder_call *call = operations_call(c);
    for (unsigned i = 0; i < count; i++) {
        command one = *c;
        unsigned key = operations_key((uint16_t)(c->key + i * step));
        size_t key_bytes = model_key(key, names[i]);
        one.n = (c->n & 0xffff) * (i + 1) % (sizeof values[i] << (c->a >> 7)) % sizeof values[i];
        one.n |= 7u << 28;
        model_entry entry = entry_of(&one, key, key_bytes, &stores[i]);
        memcpy(values[i], value_bytes, stores[i].value_bytes);
        stores[i].key = names[i];
        stores[i].key_bytes = key_bytes;
        stores[i].value = values[i];
        entry.present = stores[i].ttl_ms >= 0;
        operations_attempt_at(key, &entry);
    }
    uint64_t evictions = model_evictions(cache);
    larder_set_multi(cache, stores, count, &said, call);
    for (unsigned i = 0; i < count; i++) {
        unsigned key = attempts[i].key;
        if (stores[i].status != LARDER_OK) {
            operations_refused(key, &attempts[i].entry, stores[i].status, true, call);
            continue;
        }
        done++;
        if (attempts[i].entry.present) {
            operations_stored(key, &attempts[i].entry, evictions);
            model[key].evictions = evictions; /* a later one may have cost an earlier one its place */
        } else {
            model[key].present = false;
        }
    }
    EXPECT(done == said, "%u stored, %zu said", done, said);
}

void operation_cas(const command *c) {
    unsigned char name[LARDER_MAX_KEY + 1];
    unsigned key = operations_key(c->key), wrong = c->n % 7;
    model_entry *old = &model[key];
    size_t key_bytes = model_key(key, name), bytes;
    const larder_call *call = operations_call(c);
    larder_store store;
    model_entry entry = entry_of(c, key, key_bytes, &store);
    if (store.ttl_ms < 0) {
        store.ttl_ms = entry.expires_ms = 0;
    }
    store.key = name;
    store.key_bytes = key_bytes;
    store.expected_flags = (uint8_t)(old->flags ^ (wrong == 1));
    store.expected_expires_at_ms = c->a & 128 ? old->expires_ms + (wrong == 2 ? 1 : 0) : LARDER_ANY_EXPIRY;
    bool right = wrong != 1 && wrong != 3 && wrong != 4 && (wrong != 2 || !(c->a & 128));
    const unsigned char *value = model_value(old, key, &bytes);
    size_t expected_bytes = bytes + (wrong == 3);
    unsigned char *expected = malloc(expected_bytes + 1);
    memcpy(expected, value, bytes);
    expected[expected_bytes ? expected_bytes - 1 : 0] ^= wrong == 3 || wrong == 4;
    right |= wrong == 4 && bytes == 0;
    uint64_t evictions = model_evictions(cache);
    operations_attempt_at(key, &entry);
    larder_status status = larder_cas(cache, &store, expected, expected_bytes, call);
    free(expected);
    bool was = model_alive(old);
    if (status == LARDER_MISS) {
        model_forgotten(cache, key);
        return;
    }
    EXPECT(was, "key %u was compared: %s", key, larder_status_name(status));
    if (status == LARDER_OK) {
        EXPECT(right, "key %u was swapped, and is something else", key);
        operations_stored(key, &entry, evictions);
    } else if (status == LARDER_NOT_STORED) {
        EXPECT(!right || (operations_is_large(old) && model_evictions(cache) > old->evictions),
               "key %u was not swapped", key);
    } else {
        operations_refused(key, &entry, status, false, call);
        larder_item item;
        if (old->counter && larder_exists(cache, name, key_bytes, &item, NULL) == LARDER_OK && !item.is_counter) {
            old->counter = false; /* made plain to be compared, with the same text */
            old->text = true;
            old->bytes = (size_t)snprintf(old->literal, sizeof old->literal, "%lld", (long long)old->number);
        }
    }
}
