/*
 * replay.c — runs stored inputs without a fuzzer: files, or directories of files.
 *
 * Any compiler can build it. A crash names its input; SIGALRM ends an input that does not end.
 */
#include "world.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 20, MOST_SECONDS = 60 };

static unsigned inputs;
static const char *current = "";

static void told(int number) {
    (void)number;
    (void)!write(2, "did not hold: ", 14);
    (void)!write(2, current, strlen(current));
    (void)!write(2, "\n", 1);
    _exit(1);
}

static int replay(const char *path) {
    static uint8_t data[MOST_BYTES];
    FILE *in = fopen(path, "rb");
    if (!in) {
        perror(path);
        return 1;
    }
    size_t size = fread(data, 1, sizeof data, in);
    fclose(in);
    uint8_t *exact = malloc(size + 1); /* so that a read beyond its end is noticed */
    memcpy(exact, data, size);
    current = path;
    inputs++;
    alarm(MOST_SECONDS);
    LLVMFuzzerTestOneInput(exact, size);
    alarm(0);
    free(exact);
    return 0;
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

static int replay_all(const char *path) {
    char name[1000];
    struct stat info;
    struct dirent **entries;
    int failed = 0;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) {
        return replay(path);
    }
    int count = scandir(path, &entries, NULL, by_name);
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.') {
            snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
            failed += replay_all(name);
        }
        free(entries[i]);
    }
    free(entries);
    return failed;
}

int main(int argc, char **argv) {
    int failed = 0;
    LLVMFuzzerInitialize(&argc, &argv);
    signal(SIGABRT, told);
    signal(SIGALRM, told);
    for (int i = 1; i < argc; i++) {
        failed += replay_all(argv[i]);
    }
    printf("@ %u kept inputs replayed without a fuzzer\n", inputs);
    return failed || !inputs ? 1 : 0;
}
