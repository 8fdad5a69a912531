/*
 * asking.c — operations that change nothing, or everything at once (operations.h).
 *
 * They are gets, scans, prune, clear, verify, and invalid calls.
 */
#include "operations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

void operation_get(const command *c) {
    unsigned char name[LARDER_MAX_KEY + 1], *have;
    unsigned key = operations_key(c->key);
    size_t key_bytes = model_key(key, name), bytes;
    const larder_call *call = operations_call(c);
    larder_item item;
    model_value(&model[key], key, &bytes);
    if (c->a & 4) { /* a buffer too small, or none */
        size_t room = bytes ? c->n % bytes : 0;
        have = malloc(room + 1);
        larder_status status = larder_get(cache, name, key_bytes, c->a & 8 ? have : NULL, room, &item, call);
        EXPECT(status == LARDER_MISS || (model_alive(&model[key]) && item.size_bytes == bytes &&
                                         status == (bytes ? LARDER_BUFFER_TOO_SMALL : LARDER_OK)),
               "key %u: %s", key, larder_status_name(status));
        free(have);
        if (status == LARDER_MISS) {
            model_forgotten(cache, key);
        }
    } else if (c->a & 8) {
        if (larder_exists(cache, name, key_bytes, &item, call) == LARDER_MISS) {
            model_forgotten(cache, key);
        } else {
            EXPECT(model_alive(&model[key]) && item.size_bytes == bytes && item.flags == model[key].flags &&
                       item.expires_at_ms == model[key].expires_ms && item.is_counter == model[key].counter &&
                       item.is_pinned == model[key].pinned,
                   "key %u exists", key);
        }
    } else {
        model_compare(cache, key, call);
    }
}

void operation_get_multi(const command *c) {
    static unsigned char names[OPERATIONS_MOST][LARDER_MAX_KEY + 1];
    larder_lookup lookups[OPERATIONS_MOST];
    unsigned count = 1 + c->n % OPERATIONS_MOST, step = 1 + (c->n >> 8) % 40;
    size_t bytes[OPERATIONS_MOST];
    for (unsigned i = 0; i < count; i++) {
        unsigned key = operations_key((uint16_t)(c->key + i * step));
        size_t key_bytes = model_key(key, names[i]);
        model_value(&model[key], key, &bytes[i]);
        lookups[i] = (larder_lookup){.key = names[i], .key_bytes = key_bytes, .buffer_bytes = bytes[i]};
        lookups[i].buffer = malloc(bytes[i] + 1);
    }
    larder_status status = larder_get_multi(cache, lookups, count, operations_call(c));
    EXPECT(status == LARDER_OK, "get_multi: %s", larder_status_name(status));
    for (unsigned i = 0; i < count; i++) {
        unsigned key = operations_key((uint16_t)(c->key + i * step));
        const larder_lookup *one = &lookups[i];
        const unsigned char *want = model_value(&model[key], key, &bytes[i]);
        if (one->status == LARDER_MISS) {
            model_forgotten(cache, key);
        } else {
            EXPECT(one->status == LARDER_OK && model_alive(&model[key]) && one->item.size_bytes == bytes[i] &&
                       memcmp(one->buffer, want, bytes[i]) == 0 && one->item.flags == model[key].flags &&
                       one->item.expires_at_ms == model[key].expires_ms &&
                       one->item.is_pinned == model[key].pinned,
                   "key %u, number %u of many: %s", key, i, larder_status_name(one->status));
        }
        free(one->buffer);
    }
}

void operation_scan(const command *c) {
    static const char *const prefixes[] = {"", "key/", "key/1", "k", "key/20abcdefgh", "none"};
    static bool visited[MODEL_KEYS];
    const char *prefix = prefixes[c->a % 6];
    size_t room = LARDER_MAX_KEY + 4 + c->n % 4096, count, used;
    unsigned char *buffer = malloc(room), key[LARDER_MAX_KEY + 1];
    uint64_t cursor = 0;
    memset(visited, 0, sizeof visited);
    for (int calls = 0;; calls++) {
        larder_status status = larder_scan(cache, &cursor, *prefix ? prefix : NULL, strlen(prefix), buffer, room,
                                           &count, &used, NULL);
        EXPECT(status == LARDER_OK && used <= room && calls < 100000, "scan: %s", larder_status_name(status));
        for (size_t at = 0; at < used; count--) {
            uint32_t bytes;
            memcpy(&bytes, buffer + at, 4);
            EXPECT(count && bytes <= LARDER_MAX_KEY && at + 4 + bytes <= used, "scan: a key of %u bytes", bytes);
            memcpy(key, buffer + at + 4, bytes);
            key[bytes] = 0;
            int number = model_key_number(key, bytes);
            EXPECT(number >= 0 && model_alive(&model[number]), "scan: key %d is visited", number);
            EXPECT(bytes >= strlen(prefix) && memcmp(key, prefix, strlen(prefix)) == 0, "scan: key %d", number);
            visited[number] = true;
            at += 4 + bytes;
        }
        EXPECT(count == 0, "scan: count and bytes differ");
        if (cursor == 0) {
            break;
        }
    }
    free(buffer);
    for (unsigned k = 0; k < MODEL_KEYS - 1; k++) {
        size_t bytes = model_alive(&model[k]) && !visited[k] ? model_key(k, key) : 0;
        if (model_alive(&model[k]) && !visited[k] && bytes >= strlen(prefix) &&
            memcmp(key, prefix, strlen(prefix)) == 0) {
            model_forgotten(cache, k);
        }
    }
}

/* ---- the whole of it ---- */

void operation_prune(const command *c) {
    uint64_t dropped = 0;
    const larder_call *call = operations_call(c);
    larder_status status = larder_prune(cache, c->a & 128 ? NULL : &dropped, call);
    EXPECT(status == LARDER_OK || (status == LARDER_BUSY && (world_stopped || (call && call->flags))), "prune: %s",
           larder_status_name(status));
    pinning_check(status == LARDER_OK);
}

void operation_clear(void) {
    larder_status status = larder_clear(cache);
    EXPECT(status == LARDER_OK, "clear: %s", larder_status_name(status));
    for (unsigned key = 0; key < MODEL_KEYS; key++) {
        model[key].present = false;
    }
}

void operation_verify(void) {
    larder_report report;
    larder_stats stats;
    larder_status status = larder_verify(cache, &report);
    EXPECT(status == LARDER_OK || (status == LARDER_BUSY && world_stopped), "verify: %s",
           larder_status_name(status));
    EXPECT(report.problems == 0, "verify: %llu problems: %s", (unsigned long long)report.problems, report.first);
    EXPECT(larder_get_stats(cache, &stats) == LARDER_OK, "no statistics");
    EXPECT(status != LARDER_OK || stats.items - report.items <= model_deaths, "%llu items, %llu walked",
           (unsigned long long)stats.items, (unsigned long long)report.items);
    EXPECT(stats.damaged == 0 && stats.resets == 0, "%llu damaged, %llu resets", (unsigned long long)stats.damaged,
           (unsigned long long)stats.resets);
    EXPECT(stats.pinned_bytes <= stats.pinned_room_bytes || model_deaths,
           "%llu bytes are pinned where %llu may be", (unsigned long long)stats.pinned_bytes,
           (unsigned long long)stats.pinned_room_bytes);
    pinning_check(false);
}

/* Arguments that are not valid are refused, and change nothing. */
void operation_misuse(const command *c) {
    unsigned char name[LARDER_MAX_KEY + 1], byte = 0;
    size_t key_bytes = model_key(MODEL_TOO_LONG, name), used, count;
    larder_store store = {.key = name, .key_bytes = key_bytes, .value = "v", .value_bytes = 1};
    larder_lookup lookup = {.key = name, .key_bytes = key_bytes};
    uint64_t cursor = (uint64_t)c->n << (c->a & 63); /* a cursor of nobody's */
    static unsigned char buffer[LARDER_MAX_KEY + 4];
    int64_t n;
    EXPECT(larder_get(cache, name, key_bytes, &byte, 1, NULL, NULL) == LARDER_KEY_TOO_LONG, "get");
    EXPECT(larder_exists(cache, name, key_bytes, NULL, NULL) == LARDER_KEY_TOO_LONG, "exists");
    EXPECT(larder_set(cache, &store, NULL) == LARDER_KEY_TOO_LONG, "set");
    EXPECT(larder_cas(cache, &store, "v", 1, NULL) == LARDER_KEY_TOO_LONG, "cas");
    EXPECT(larder_delete(cache, name, key_bytes, NULL) == LARDER_KEY_TOO_LONG, "delete");
    EXPECT(larder_touch(cache, name, key_bytes, 0, NULL) == LARDER_KEY_TOO_LONG, "touch");
    EXPECT(larder_increment(cache, name, key_bytes, 1, 0, 0, &n, NULL) == LARDER_KEY_TOO_LONG, "increment");
    EXPECT(larder_get_multi(cache, &lookup, 1, NULL) == LARDER_OK && lookup.status == LARDER_KEY_TOO_LONG,
           "multi");
    EXPECT(larder_scan(cache, &cursor, NULL, 0, buffer, LARDER_MAX_KEY + 3, &count, &used, NULL) == LARDER_INVALID,
           "scan");
    EXPECT(larder_scan(cache, &cursor, NULL, 0, buffer, sizeof buffer, &count, &used, NULL) == LARDER_OK, "scan");
    EXPECT(larder_get(cache, NULL, 1, &byte, 1, NULL, NULL) == LARDER_INVALID, "get without a key");
    store = (larder_store){.key = "a", .key_bytes = 1, .value = NULL, .value_bytes = 1};
    EXPECT(larder_set(cache, &store, NULL) == LARDER_INVALID, "set without a value");
    store = (larder_store){.key = "a", .key_bytes = 1, .value = "v", .value_bytes = 1, .mode = 3};
    EXPECT(larder_set(cache, &store, NULL) == LARDER_INVALID, "set in no mode");
    store = (larder_store){.key = "a", .key_bytes = 1, .value = "v", .value_bytes = 1, .ttl_ms = INT64_MAX};
    EXPECT(larder_set(cache, &store, NULL) == LARDER_INVALID, "set for ever and ever");
    EXPECT(larder_touch(cache, "a", 1, LARDER_MAX_TTL_MS + 1, NULL) == LARDER_INVALID, "touch for ever and ever");
    EXPECT(larder_verify(NULL, NULL) == LARDER_INVALID && larder_clear(NULL) == LARDER_INVALID, "no cache");
}
