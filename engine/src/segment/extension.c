/*
 * extension.c — packs what an extended record has beside key and value into words, and back.
 */
#include "segment/extension.h"

#define KNOWN_FIELDS (LARD_FIELD_LEASE | LARD_FIELD_FRESH)

unsigned lard_extension_pack(const lard_extension *extension, uint64_t words[LARD_EXTENSION_WORDS]) {
    unsigned count = 0;
    words[count++] = LARD_EXTENSION(extension->kind, extension->fields, extension->compute_ms);
    if (extension->fields & LARD_FIELD_LEASE) {
        words[count++] = extension->token[0];
        words[count++] = extension->token[1];
        words[count++] = (uint64_t)extension->lease_until_ms;
    }
    if (extension->fields & LARD_FIELD_FRESH) {
        words[count++] = (uint64_t)extension->fresh_until_ms;
    }
    return count;
}

bool lard_extension_unpack(const uint64_t words[LARD_EXTENSION_WORDS], lard_extension *extension) {
    unsigned count = 1;
    *extension = (lard_extension){.kind = LARD_EXTENSION_KIND(words[0]),
                                  .fields = LARD_EXTENSION_FIELDS(words[0]),
                                  .compute_ms = LARD_EXTENSION_COMPUTE_MS(words[0])}; /* the rest is 0 */
    if ((words[0] & LARD_EXTENSION_ZEROS) || (extension->fields & ~KNOWN_FIELDS) ||
        (extension->kind && extension->kind != LARD_TYPE_PLAIN && extension->kind != LARD_TYPE_HEAD)) {
        return false;
    }
    if (extension->fields & LARD_FIELD_LEASE) {
        extension->token[0] = words[count++];
        extension->token[1] = words[count++];
        extension->lease_until_ms = (int64_t)words[count++];
    }
    if (extension->fields & LARD_FIELD_FRESH) {
        extension->fresh_until_ms = (int64_t)words[count++];
    }
    return true;
}
