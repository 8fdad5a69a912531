/*
 * changing.c — increment, touch and delete, checked against the model (operations.h).
 */
#include "operations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t delta_of(uint32_t n) {
    static const int64_t deltas[] = {1, -1, 0, INT64_MAX, INT64_MIN, 1000000, -77, 3};
    return n & 8 ? (int64_t)(n >> 8) : deltas[n & 7];
}

static bool number_of(const unsigned char *text, size_t bytes, int64_t *number) {
    bool negative = bytes && text[0] == '-';
    size_t at = bytes && (text[0] == '-' || text[0] == '+');
    __int128 sum = 0;
    if (at == bytes || bytes > 24) {
        return false;
    }
    for (; at < bytes; at++) {
        if (text[at] < '0' || text[at] > '9') {
            return false;
        }
        sum = sum * 10 + (text[at] - '0');
    }
    sum = negative ? -sum : sum;
    *number = (int64_t)sum;
    return sum <= INT64_MAX && sum >= INT64_MIN;
}

void operation_increment(const command *c) {
    unsigned char name[LARDER_MAX_KEY + 1];
    unsigned key = operations_key(c->key);
    model_entry *old = &model[key], entry = *old;
    size_t key_bytes = model_key(key, name), bytes;
    const larder_call *call = operations_call(c);
    const unsigned char *value = model_value(old, key, &bytes);
    int64_t delta = delta_of(c->n), initial = delta_of(c->n >> 4), ttl_ms = operations_ttl(c), number = 0, sum = 0,
            new_sum;
    bool was = model_alive(old);
    bool numeric = (old->counter || old->flags == 0) && number_of(value, bytes, &number);
    bool overflows = numeric && __builtin_add_overflow(number, delta, &sum);
    bool new_overflows = __builtin_add_overflow(initial, delta, &new_sum);
    int64_t result = 0;
    if (was && numeric) {
        entry.number = sum;
    } else {
        entry = (model_entry){.expires_ms = operations_expiry(ttl_ms), .number = new_sum};
    }
    entry.present = entry.counter = true;
    entry.text = false;
    operations_attempt_at(key, &entry);
    larder_status status = larder_increment(cache, name, key_bytes, delta, initial, ttl_ms, &result, call);
    bool may_be_new = !was || old->uncertain || (!old->pinned && model_evictions(cache) > old->evictions);
    if (status == LARDER_INVALID) {
        EXPECT(ttl_ms < 0, "key %u: a life of %lld", key, (long long)ttl_ms);
    } else if (status == LARDER_NOT_A_NUMBER) {
        EXPECT(was && !numeric, "key %u is a number", key);
    } else if (status == LARDER_OVERFLOW) {
        EXPECT((was && overflows) || (may_be_new && new_overflows), "key %u does not overflow", key);
    } else if (status != LARDER_OK) {
        operations_refused(key, &entry, status, false, call);
    } else {
        larder_item item = {.expires_at_ms = entry.expires_ms};
        bool old_sum = was && numeric && !overflows && result == sum;
        EXPECT(old_sum || (may_be_new && !new_overflows && result == new_sum), "key %u: %lld", key,
               (long long)result);
        if (may_be_new && larder_exists(cache, name, key_bytes, &item, NULL) == LARDER_OK) {
            bool kept = old_sum && item.expires_at_ms == old->expires_ms;
            EXPECT(kept || item.expires_at_ms == operations_expiry(ttl_ms), "key %u: another life", key);
            entry.flags = kept ? old->flags : 0;
            entry.pinned = item.is_pinned;
        }
        entry.expires_ms = item.expires_at_ms;
        entry.number = result;
        operations_stored(key, &entry, model_evictions(cache));
    }
}

void operation_touch(const command *c) {
    unsigned char name[LARDER_MAX_KEY + 1];
    unsigned key = operations_key(c->key);
    size_t key_bytes = model_key(key, name);
    const larder_call *call = operations_call(c);
    int64_t ttl_ms = operations_ttl(c);
    model_entry entry = model[key];
    entry.expires_ms = operations_expiry(ttl_ms);
    entry.present = ttl_ms >= 0;
    operations_attempt_at(key, &entry);
    larder_status status = larder_touch(cache, name, key_bytes, ttl_ms, call);
    if (status == LARDER_MISS) {
        model_forgotten(cache, key);
    } else if (status == LARDER_OK) {
        EXPECT(model_alive(&model[key]), "key %u was touched", key);
        entry.uncertain |=
            world_stopped && operations_is_large(&entry); /* chunks of a stopped shard keep their life */
        model[key] = entry;
    } else {
        operations_refused(key, NULL, status, false, call);
    }
}

void operation_delete(const command *c) {
    unsigned char name[LARDER_MAX_KEY + 1];
    unsigned key = operations_key(c->key);
    size_t key_bytes = model_key(key, name);
    model_entry gone = {.present = false};
    operations_attempt_at(key, &gone);
    larder_status status = larder_delete(cache, name, key_bytes, operations_call(c));
    EXPECT(status == LARDER_MISS || (status == LARDER_OK && model_alive(&model[key])), "key %u is deleted: %s",
           key, larder_status_name(status));
    if (status == LARDER_MISS) {
        model_forgotten(cache, key);
    }
    model[key].present = false;
}
