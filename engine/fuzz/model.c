/*
 * model.c — keys, values and allowed results of the naive model (model.h).
 */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

model_entry model[MODEL_KEYS];
uint64_t model_more_evictions, model_doubts, model_deaths;

static const uint16_t lengths[16] = {0, 1, 1, 7, 8, 9, 15, 16, 17, 24, 100, 255, 1000, 4087, 4094, 4095};

/* The first 16 are of chosen lengths, with zeros in them; the others are short text of a common beginning. */
size_t model_key(unsigned number, unsigned char out[LARDER_MAX_KEY + 1]) {
    if (number == MODEL_TOO_LONG) {
        memset(out, 'l', LARDER_MAX_KEY + 1);
        return LARDER_MAX_KEY + 1;
    }
    if (number < 16) {
        memset(out, number == 2 ? 'a' : 0, lengths[number]);
        if (lengths[number] > 1) {
            out[0] = (unsigned char)number;
            out[lengths[number] - 1] = 'z';
        }
        return lengths[number];
    }
    return (size_t)snprintf((char *)out, 32, "key/%u%.*s", number, (int)(number % 9), "abcdefgh");
}

int model_key_number(const unsigned char *key, size_t bytes) {
    unsigned char other[LARDER_MAX_KEY + 1];
    int number = -1;
    if (bytes > 4 && memcmp(key, "key/", 4) == 0) {
        number = atoi((const char *)key + 4); /* the caller's copy ends with a zero */
    } else {
        for (int i = 0; i < 16 && number < 0; i++) {
            number = lengths[i] == bytes && (bytes != 1 || (key[0] == 'a') == (i == 2)) ? i : -1;
        }
    }
    return number >= 0 && number < MODEL_KEYS && model_key((unsigned)number, other) == bytes &&
                   memcmp(other, key, bytes) == 0
               ? number
               : -1;
}

void model_describe(unsigned char *out, size_t bytes, unsigned key, uint32_t stamp) {
    uint64_t state = (uint64_t)stamp << 32 | key;
    for (size_t i = 0; i < bytes; i += 8) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        uint64_t word = state ^ state >> 29;
        memcpy(out + i, &word, bytes - i < 8 ? bytes - i : 8);
    }
}

const unsigned char *model_value(const model_entry *entry, unsigned key, size_t *bytes) {
    static unsigned char value[MODEL_MOST_VALUE + 8];
    if (entry->counter) {
        *bytes = (size_t)snprintf((char *)value, 32, "%lld", (long long)entry->number);
    } else if (entry->text) {
        *bytes = entry->bytes;
        memcpy(value, entry->literal, entry->bytes);
    } else {
        *bytes = entry->bytes;
        model_describe(value, entry->bytes, key, entry->stamp);
    }
    return value;
}

bool model_alive(const model_entry *entry) {
    return entry->present && (!entry->expires_ms || entry->expires_ms > world_now_ms);
}

uint64_t model_evictions(larder *cache) {
    return model_more_evictions + lard_load(&cache->core->counters[LARD_STAT_evictions]);
}

void model_seen(larder *cache, unsigned key) {
    model[key].uncertain = false;
    model[key].evictions = model_evictions(cache);
}

void model_forgotten(larder *cache, unsigned key) {
    model_entry *entry = &model[key];
    EXPECT(!model_alive(entry) || entry->uncertain || !entry->pinned, "key %u is gone, and was pinned", key);
    EXPECT(!model_alive(entry) || entry->uncertain || model_evictions(cache) > entry->evictions,
           "key %u is gone, and nothing was evicted", key);
    entry->present = entry->present && !model_alive(entry); /* the expired live again when the clock is set back */
}

/* What has expired may be dropped at any time from now on, and is gone for good where the clock is set back. */
void model_time_passes(void) {
    for (unsigned key = 0; key < MODEL_KEYS; key++) {
        model[key].uncertain |= model[key].present && !model_alive(&model[key]);
    }
}

void model_compare(larder *cache, unsigned key, const larder_call *call) {
    unsigned char name[LARDER_MAX_KEY + 1];
    const model_entry *entry = &model[key];
    size_t key_bytes = model_key(key, name), bytes = 0;
    larder_item item;
    const unsigned char *want = model_value(entry, key, &bytes);
    unsigned char *have = malloc(bytes + 1); /* to the byte, so that one more is noticed */
    larder_status status = larder_get(cache, name, key_bytes, have, bytes, &item, call);
    if (status == LARDER_MISS) {
        model_forgotten(cache, key);
    } else {
        EXPECT(status == LARDER_OK, "key %u: %s", key, larder_status_name(status));
        EXPECT(model_alive(entry), "key %u is there", key);
        EXPECT(item.size_bytes == bytes && memcmp(have, want, bytes) == 0, "key %u has another value", key);
        EXPECT(item.flags == entry->flags && item.expires_at_ms == entry->expires_ms,
               "key %u: flags %u, expiry %lld", key, item.flags, (long long)item.expires_at_ms);
        EXPECT(item.is_counter == entry->counter && item.is_pinned == entry->pinned, "key %u", key);
        model_seen(cache, key);
    }
    free(have);
}
