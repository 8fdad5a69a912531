/*
 * version_worker.c — a child process that runs commands of versions_test.c. It is compiled with this version of
 * the file's format, and with the one before.
 *
 * Each line of standard input is a command: `set KEY VALUE`, `get KEY`, `delete KEY`, `clear`, `attach`, and of
 * items that are converted `pin KEY VALUE`, `keep KEY VALUE` (flags 7, for an hour), `count KEY`, `fill KEY
 * BYTES`. The answer is a line: a value, or the name of a status. With a second argument, the handle must keep its
 * items.
 */
#include "larder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *get(larder *cache, const char *key, char *value, size_t bytes) {
    larder_item item;
    larder_status status = larder_get(cache, key, strlen(key), value, bytes - 1, &item, NULL);
    value[status == LARDER_OK ? item.size_bytes : 0] = 0;
    return status == LARDER_OK ? value : larder_status_name(status);
}

static larder_status set(larder *cache, const char *key, const char *value) {
    larder_store store = {.key = key, .key_bytes = strlen(key), .value = value, .value_bytes = strlen(value)};
    return larder_set(cache, &store, NULL);
}

/* A value of letters, as versions_test.c expects it. */
static larder_status fill(larder *cache, const char *key, size_t bytes) {
    char *letters = malloc(bytes + 1);
    for (size_t i = 0; letters && i < bytes; i++) {
        letters[i] = (char)('a' + i % 26);
    }
    larder_store store = {.key = key, .key_bytes = strlen(key), .value = letters, .value_bytes = bytes};
    larder_status status = larder_set(cache, &store, NULL);
    free(letters);
    return status;
}

static larder_status special(larder *cache, const char *command, const char *key, const char *value) {
    larder_store store = {.key = key, .key_bytes = strlen(key), .value = value, .value_bytes = strlen(value)};
    if (strcmp(command, "pin") == 0) {
        store.pin = 1;
    } else {
        store.flags = 7;
        store.ttl_ms =
            strcmp(command, "keep") == 0 ? 3600000 : 1ll << 46; /* "ages": the longest of the older version */
    }
    return larder_set(cache, &store, NULL);
}

int main(int count, char **arguments) {
    larder_options options = {.size_bytes = 4 << 20, .attach_later = 1, .must_keep = count > 2};
    char line[256], command[16], key[64], value[64];
    larder *cache;
    if (count < 2 || larder_open(arguments[1], &options, &cache, NULL) != LARDER_OK) {
        return 1;
    }
    while (fgets(line, sizeof line, stdin)) {
        int words = sscanf(line, "%15s %63s %63s", command, key, value);
        const char *answer = "unknown";
        if (words == 3 && strcmp(command, "set") == 0) {
            answer = larder_status_name(set(cache, key, value));
        } else if (words == 3 && strcmp(command, "fill") == 0) {
            answer = larder_status_name(fill(cache, key, (size_t)atol(value)));
        } else if (words == 3) {
            answer = larder_status_name(special(cache, command, key, value));
        } else if (words == 2 && strcmp(command, "count") == 0) {
            int64_t number;
            answer = larder_status_name(larder_increment(cache, key, strlen(key), 5, 0, 0, &number, NULL));
        } else if (words == 2 && strcmp(command, "get") == 0) {
            answer = get(cache, key, value, sizeof value);
        } else if (words == 2 && strcmp(command, "delete") == 0) {
            answer = larder_status_name(larder_delete(cache, key, strlen(key), NULL));
        } else if (words == 1 && strcmp(command, "clear") == 0) {
            answer = larder_status_name(larder_clear(cache));
        } else if (words == 1 && strcmp(command, "attach") == 0) {
            answer = larder_status_name(larder_attach(cache, 2000, NULL));
        }
        printf("%s\n", answer);
        fflush(stdout);
    }
    larder_close(cache);
    return 0;
}
