/*
 * status.c — texts and names of the status codes, from the one list in larder.h.
 */
#include "larder.h"

const char *larder_status_text(larder_status status) {
    switch (status) {
#define LARD_TEXT(name, text) \
    case LARDER_##name:       \
        return text;
        LARDER_STATUS_LIST(LARD_TEXT)
#undef LARD_TEXT
    default:
        return "unknown status";
    }
}

const char *larder_status_name(larder_status status) {
    switch (status) {
#define LARD_NAME(name, text) \
    case LARDER_##name:       \
        return #name;
        LARDER_STATUS_LIST(LARD_NAME)
#undef LARD_NAME
    default:
        return "UNKNOWN";
    }
}
