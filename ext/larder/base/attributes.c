/*
 * attributes.c — Larder::Denial._fixed?: the attributes of chattr(1) that forbid changes.
 *
 * It uses statx, which opens nothing: closing a descriptor of a lock file would drop its POSIX locks.
 */
#include "base/attributes.h"

#include <fcntl.h>
#include <sys/stat.h>

#ifdef STATX_BASIC_STATS
/* Bits of stx_attributes: STATX_ATTR_IMMUTABLE and STATX_ATTR_APPEND, which musl does not name. */
#define FIXED_ATTRIBUTES (0x10u | 0x20u)

/* True if the file is immutable or append-only; nil if that is not known. */
static VALUE is_fixed(VALUE self, VALUE path) {
    struct statx info;

    (void)self;
    if (statx(AT_FDCWD, StringValueCStr(path), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &info) != 0 ||
        !(info.stx_attributes_mask & FIXED_ATTRIBUTES)) {
        return Qnil;
    }
    return info.stx_attributes & FIXED_ATTRIBUTES ? Qtrue : Qfalse;
}
#else
static VALUE is_fixed(VALUE self, VALUE path) {
    (void)self;
    (void)path;
    return Qnil;
}
#endif

void glue_attributes_init(VALUE larder_module) {
    VALUE denial = rb_define_module_under(larder_module, "Denial");

    rb_define_private_method(rb_singleton_class(denial), "_fixed?", is_fixed, 1);
}
