/*
 * keyspace.c — names the keyspace of a key. Pure; takes no lock.
 */
#include "usage/keyspace.h"

#include <string.h>

#define VIEWS "views/" /* with which the keys of Rails' fragments begin */
#define TEXT sizeof((larder_keyspace_rules *)0)->text[0]
#define MANY_DIGITS 2 /* two in a row are a number of one key, also after a letter */

typedef struct {
    const char *at, *end;
} span;

static bool is_separator(char c) { return c == '/' || c == ':'; }

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool add(char (*texts)[TEXT], uint32_t *count, uint32_t most, const char *text) {
    size_t bytes = strlen(text);
    for (uint32_t i = 0; i < *count; i++) {
        if (strcmp(texts[i], text) == 0) {
            return true;
        }
    }
    if (bytes == 0 || bytes >= TEXT || *count == most) {
        return false;
    }
    memcpy(texts[*count], text, bytes + 1);
    ++*count;
    return true;
}

bool lard_keyspace_add_namespace(larder_keyspace_rules *rules, const char *text) {
    return add(rules->text, &rules->namespaces, LARDER_KEYSPACE_NAMESPACES, text);
}

bool lard_keyspace_add_pattern(larder_keyspace_rules *rules, const char *text) {
    return add(rules->text + LARDER_KEYSPACE_NAMESPACES, &rules->patterns, LARDER_KEYSPACE_PATTERNS, text);
}

bool lard_keyspace_is_valid(const larder_keyspace_rules *rules) {
    if (rules->namespaces > LARDER_KEYSPACE_NAMESPACES || rules->patterns > LARDER_KEYSPACE_PATTERNS) {
        return false;
    }
    for (uint32_t i = 0; i < LARDER_KEYSPACE_NAMESPACES + LARDER_KEYSPACE_PATTERNS; i++) {
        if (rules->text[i][TEXT - 1] != '\0') {
            return false;
        }
    }
    return true;
}

/* The key after the longest namespace that it begins with. */
static span without_namespace(const larder_keyspace_rules *rules, span key) {
    size_t longest = 0;
    for (uint32_t i = 0; i < rules->namespaces; i++) {
        size_t bytes = strlen(rules->text[i]);
        if (bytes + 1 > longest && (size_t)(key.end - key.at) > bytes && key.at[bytes] == ':' &&
            memcmp(key.at, rules->text[i], bytes) == 0) {
            longest = bytes + 1;
        }
    }
    return (span){key.at + longest, key.end};
}

/* True if the key begins with the pattern, in which a "*" stands for any bytes but separators. Goes back to the
 * last "*" only, so the time is at most the product of both lengths. */
static bool begins_with(span key, const char *pattern) {
    const char *star = NULL, *resume = NULL;
    while (*pattern) {
        if (*pattern == '*') {
            star = pattern++;
            resume = key.at;
        } else if (key.at < key.end && *key.at == *pattern) {
            key.at++;
            pattern++;
        } else if (star && resume < key.end && !is_separator(*resume)) {
            key.at = ++resume;
            pattern = star + 1;
        } else {
            return false;
        }
    }
    return true;
}

static const char *separator_in(span key, const char *separators) {
    while (key.at < key.end && (*key.at == '\0' || !strchr(separators, *key.at))) {
        key.at++;
    }
    return key.at;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* Where the first number begins that is that of a single key, or the end: one of several digits, or one digit that
 * does not follow a letter. */
static const char *number_in(span name) {
    unsigned digits = 0;
    for (const char *at = name.at; at < name.end; at++) {
        digits = is_digit(*at) ? digits + 1 : 0;
        if (digits && (digits == MANY_DIGITS || at == name.at || !is_letter(at[-1]))) {
            return at + 1 - digits;
        }
    }
    return name.end;
}

static void set(lard_keyspace *name, span text, bool has_more) {
    size_t bytes = (size_t)(text.end - text.at);
    size_t most = LARD_KEYSPACE_BYTES - has_more;
    bytes = bytes < most ? bytes : most;
    memset(name, 0, sizeof *name);
    memcpy(name->text, text.at, bytes);
    if (has_more) {
        name->text[bytes++] = '*';
    }
    name->bytes = (uint32_t)bytes;
}

void lard_keyspace_of(const larder_keyspace_rules *rules, const void *key, size_t bytes, lard_keyspace *name) {
    span rest = without_namespace(rules, (span){key, (const char *)key + bytes});
    for (uint32_t i = 0; i < rules->patterns; i++) {
        const char *pattern = rules->text[LARDER_KEYSPACE_NAMESPACES + i];
        if (begins_with(rest, pattern)) {
            set(name, (span){pattern, pattern + strlen(pattern)}, false);
            return;
        }
    }
    size_t prefix = sizeof VIEWS - 1;
    if ((size_t)(rest.end - rest.at) > prefix && memcmp(rest.at, VIEWS, prefix) == 0) {
        const char *digest = separator_in(rest, ":");
        span inner = {rest.at + prefix, rest.end};
        set(name, (span){rest.at, digest < rest.end ? digest : separator_in(inner, "/")}, false);
        return;
    }
    while (rest.at < rest.end && is_separator(*rest.at)) {
        rest.at++;
    }
    span first = {rest.at, separator_in(rest, "/:")};
    const char *number = number_in(first);
    set(name, (span){first.at, number}, number < first.end);
}
