/*
 * extension.c — packs what an extended record has beside key and value into words, and back.
 */
#include "segment/extension.h"

#define KNOWN_FIELDS (LARD_FIELD_LEASE | LARD_FIELD_FRESH | LARD_FIELD_TAGS)

unsigned lard_extension_pack(const lard_extension *extension, uint64_t words[LARD_EXTENSION_WORDS]) {
    unsigned count = 0;
    words[count++] =
        LARD_EXTENSION(extension->kind, extension->fields, extension->tag_count, extension->compute_ms);
    if (extension->fields & LARD_FIELD_LEASE) {
        words[count++] = extension->token[0];
        words[count++] = extension->token[1];
        words[count++] = (uint64_t)extension->lease_began_ms;
        words[count++] = (uint64_t)extension->lease_ms;
    }
    if (extension->fields & LARD_FIELD_FRESH) {
        words[count++] = (uint64_t)extension->fresh_until_ms;
    }
    if (extension->fields & LARD_FIELD_TAGS) {
        words[count++] = extension->stamp;
        for (unsigned i = 0; i < extension->tag_count; i++) {
            words[count++] = extension->tags[i];
        }
    }
    return count;
}

bool lard_extension_unpack(const uint64_t words[LARD_EXTENSION_WORDS], lard_extension *extension) {
    unsigned count = 1, fields = LARD_EXTENSION_FIELDS(words[0]), kind = LARD_EXTENSION_KIND(words[0]);
    unsigned tags = LARD_EXTENSION_TAGS(words[0]);
    lard_extension_init(extension, kind, LARD_EXTENSION_COMPUTE_MS(words[0]));
    if ((words[0] & LARD_EXTENSION_ZEROS) || (fields & ~KNOWN_FIELDS) || tags > LARDER_MAX_TAGS ||
        (tags != 0) != ((fields & LARD_FIELD_TAGS) != 0) ||
        (kind && kind != LARD_TYPE_PLAIN && kind != LARD_TYPE_HEAD)) {
        return false;
    }
    extension->fields = fields;
    if (fields & LARD_FIELD_LEASE) {
        extension->token[0] = words[count++];
        extension->token[1] = words[count++];
        extension->lease_began_ms = (int64_t)words[count++];
        extension->lease_ms = (int64_t)words[count++];
    }
    if (fields & LARD_FIELD_FRESH) {
        if (words[count] == 0 || words[count] > LARDER_MAX_EXPIRY_MS) {
            return false;
        }
        extension->fresh_until_ms = (int64_t)words[count++];
    }
    if (fields & LARD_FIELD_TAGS) {
        extension->stamp = words[count++];
        extension->tag_count = tags;
        for (unsigned i = 0; i < tags; i++) {
            extension->tags[i] = words[count++];
        }
    }
    return true;
}
