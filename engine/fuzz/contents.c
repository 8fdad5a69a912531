/*
 * contents.c — self-describing values and what is known of them (contents.h).
 *
 * A value is its stamp and its key's number, four bytes each, and then bytes that follow
 * from both. Its flags follow from its stamp.
 */
#include "contents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUE = 256 << 10 };

static contents now;
static uint32_t spec;

static void describe(unsigned char *out, size_t bytes, uint32_t key, uint32_t stamp) {
    uint64_t state = (uint64_t)key << 32 | stamp;
    for (size_t i = 0; i < bytes; i += 8) {
        memcpy(out + i, &state, bytes - i < 8 ? bytes - i : 8);
        state = state * 6364136223846793005ull + 1442695040888963407ull;
    }
}

void contents_begin(const contents *with) { now = *with; }

size_t contents_name(unsigned key, char out[CONTENTS_NAME]) {
    if (key >= CONTENTS_PLAIN) {
        return (size_t)snprintf(out, CONTENTS_NAME, "counter %u", key);
    }
    return (size_t)snprintf(out, CONTENTS_NAME, "k%u%.*s", key, (int)(key % 8 * 5),
                            "........................................");
}

size_t contents_room(unsigned key) {
    size_t most = key >= CONTENTS_PLAIN ? 24 : 8;
    for (uint32_t stamp = 1; stamp <= now.stamps; stamp++) {
        most = now.key_of[stamp] == key && now.bytes_of[stamp] > most ? now.bytes_of[stamp] : most;
    }
    return most;
}

uint8_t contents_flags(unsigned key) { return (uint8_t)(now.last[key] * 7); }

const unsigned char *contents_value(unsigned key, size_t *bytes) {
    static unsigned char value[MOST_VALUE + 8];
    *bytes = now.last[key] ? now.bytes_of[now.last[key]] : 0;
    describe(value, *bytes, key, now.last[key]);
    return value;
}

void contents_spec(unsigned key, size_t bytes, larder_store *store) {
    static char name[CONTENTS_NAME];
    static unsigned char value[MOST_VALUE + 8];
    if (now.stamps + 1 < CONTENTS_STAMPS) {
        now.stamps++;
        now.key_of[now.stamps] = (uint16_t)key;
        now.bytes_of[now.stamps] = (uint32_t)bytes;
    } else { /* that many stamps in one input: the last one again */
        now.key_of[now.stamps] = (uint16_t)key;
        now.bytes_of[now.stamps] = (uint32_t)bytes;
    }
    spec = now.stamps;
    describe(value, bytes, key, spec);
    *store = (larder_store){.key = name,
                            .key_bytes = contents_name(key, name),
                            .value = value,
                            .value_bytes = bytes,
                            .flags = (uint8_t)(spec * 7)};
}

void contents_stored(unsigned key, bool stored, bool must) {
    now.last[key] = stored ? spec : now.last[key];
    now.must[key] = must;
}

void contents_dropped(unsigned key) { now.must[key] = false; }

static bool is_number_of(unsigned key, const unsigned char *value, size_t bytes) {
    unsigned counter = key - CONTENTS_PLAIN;
    for (unsigned i = 0; i < now.shown[counter]; i++) {
        char text[32];
        size_t length = (size_t)snprintf(text, sizeof text, "%lld", (long long)now.numbers[counter][i]);
        if (length == bytes && memcmp(text, value, bytes) == 0) {
            return true;
        }
    }
    return false;
}

void contents_check(unsigned key, const unsigned char *value, size_t bytes, uint8_t flags, bool forged,
                    bool older) {
    static unsigned char want[MOST_VALUE + 8];
    uint32_t stamp = 0;
    if (forged) {
        return;
    }
    if (key >= CONTENTS_PLAIN) {
        EXPECT(is_number_of(key, value, bytes), "key %u never was %.*s", key, (int)bytes, (const char *)value);
        return;
    }
    memcpy(&stamp, value, bytes < 4 ? bytes : 4);
    EXPECT(stamp && stamp <= now.stamps && now.key_of[stamp] == key && now.bytes_of[stamp] == bytes,
           "key %u: a value of %zu bytes and stamp %u was never stored", key, bytes, stamp);
    describe(want, bytes, key, stamp);
    EXPECT(memcmp(want, value, bytes) == 0, "key %u: wrong bytes", key);
    EXPECT(flags == (uint8_t)(stamp * 7), "key %u: wrong flags", key);
    EXPECT(stamp == now.last[key] || (older && !now.must[key]), "key %u: the value %u is older than %u", key,
           stamp, now.last[key]);
}

bool contents_incremented(unsigned key, int64_t delta, int64_t result) {
    unsigned counter = key - CONTENTS_PLAIN;
    bool can = result == delta;
    for (unsigned i = 0; i < now.shown[counter] && !can; i++) {
        can = now.numbers[counter][i] + delta == result;
    }
    now.numbers[counter][now.shown[counter] < 64 ? now.shown[counter]++ : 63] = result;
    return can;
}

void contents_fill(contents *out, larder *cache, unsigned fillers, size_t most) {
    static const unsigned char nothing[700];
    char name[CONTENTS_NAME];
    larder_store store;
    int64_t number = 0;
    memset(&now, 0, sizeof now);
    for (unsigned i = 0; i < fillers; i++) {
        store = (larder_store){.key = name,
                               .key_bytes = (size_t)snprintf(name, sizeof name, "filler %u", i),
                               .value = nothing,
                               .value_bytes = i * 37 % 300,
                               .ttl_ms = i % 3 ? 0 : 60000};
        larder_set(cache, &store, NULL);
        larder_get(cache, name, store.key_bytes, NULL, 0, NULL, NULL);
    }
    for (unsigned i = 0; i < 2 * CONTENTS_PLAIN; i++) {
        unsigned key = i % CONTENTS_PLAIN;
        contents_spec(key, key % 16 == 15 && most ? 9000 + key * 997 % most : 8 + key * 131 % 600, &store);
        store.ttl_ms = key % 5 == 4 ? 3600000 : 0;
        if (i < CONTENTS_PLAIN || key % 4 == 0) {
            contents_stored(key, larder_set(cache, &store, NULL) == LARDER_OK, false);
        }
    }
    for (unsigned i = 0; i < 3 * CONTENTS_COUNTERS; i++) {
        unsigned key = CONTENTS_PLAIN + i % CONTENTS_COUNTERS;
        larder_increment(cache, name, contents_name(key, name), i * 100, 0, 0, &number, NULL);
        contents_incremented(key, i * 100, number);
    }
    for (unsigned key = 0; key < CONTENTS_KEYS; key += 2) { /* so that some were read */
        static unsigned char have[MOST_VALUE];
        larder_get(cache, name, contents_name(key, name), have, sizeof have, NULL, NULL);
    }
    *out = now;
}
