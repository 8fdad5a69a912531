/*
 * hello.c — the engine from C: open, store, read, count.
 * Build: make example, or cc hello.c $(pkg-config --cflags --libs larder)
 */
#include <larder.h>

#include <stdio.h>
#include <string.h>

int main(void) {
    larder *cache;
    larder_error error;
    larder_options options = {.size_bytes = 8u << 20};
    if (larder_open("/tmp/larder-example/hello.larder", &options, &cache, &error) != LARDER_OK) {
        fprintf(stderr, "%s: %s\n", error.detail, larder_status_text(error.status));
        return 1;
    }
    larder_store store = {.key = "greeting", .key_bytes = 8, .value = "hello", .value_bytes = 5, .ttl_ms = 60000};
    larder_set(cache, &store, NULL);

    char buffer[64];
    larder_item item;
    if (larder_get(cache, "greeting", 8, buffer, sizeof buffer, &item, NULL) == LARDER_OK) {
        printf("%.*s, stored by this or an earlier run\n", (int)item.size_bytes, buffer);
    }
    int64_t runs;
    if (larder_increment(cache, "runs", 4, 1, 0, 0, &runs, NULL) == LARDER_OK) {
        printf("run number %lld of this program\n", (long long)runs);
    }
    larder_close(cache);
    return 0;
}
