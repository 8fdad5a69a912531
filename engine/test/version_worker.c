/*
 * version_worker.c — a child process that runs commands of versions_test.c. It is compiled with this version of
 * the file's format, and with the next one.
 *
 * Each line of standard input is a command: `set KEY VALUE`, `get KEY`, `delete KEY`, `clear`, `attach`. The
 * answer is a line: a value, or the name of a status. With a second argument, the handle keeps a newer file.
 */
#include "larder.h"

#include <stdio.h>
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

int main(int count, char **arguments) {
    larder_options options = {.size_bytes = 4 << 20, .attach_later = 1, .keep_newer = count > 2};
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
