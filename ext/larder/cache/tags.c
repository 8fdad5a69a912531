/*
 * tags.c — tags of items: the native methods stamp and _delete_tagged.
 */
#include "cache/tags.h"
#include "base/arguments.h"
#include "base/errors.h"
#include "cache/attach.h"

#include <string.h>

typedef struct deletion {
    const glue_tags *tags;
    larder_call call;
    larder_status status;
} deletion;

/* Copies the bytes of a part of the Strings into one, as the engine may be called without the GVL. */
static void pack(VALUE given, long from, uint32_t count, glue_tags *tags) {
    tags->packed = rb_str_new(NULL, 0);
    tags->count = count;
    for (uint32_t i = 0; i < count; i++) {
        VALUE tag = rb_ary_entry(given, from + (long)i);
        glue_check_string(tag, "a tag");
        tags->list[i].bytes = (size_t)RSTRING_LEN(tag);
        rb_str_cat(tags->packed, RSTRING_PTR(tag), RSTRING_LEN(tag));
        RB_GC_GUARD(tag); /* the Array alone would let compaction move it */
    }
    const char *at = RSTRING_PTR(tags->packed);
    for (uint32_t i = 0; i < count; i++) {
        tags->list[i].text = at;
        at += tags->list[i].bytes;
    }
}

void glue_tags_take(VALUE given, glue_tags *tags) {
    tags->packed = Qnil;
    tags->count = 0;
    if (NIL_P(given)) {
        return;
    }
    glue_check_array(given, "tags");
    if (RARRAY_LEN(given) > LARDER_MAX_TAGS) {
        rb_raise(rb_eArgError, "an item takes up to %u tags, not %ld", LARDER_MAX_TAGS, RARRAY_LEN(given));
    }
    pack(given, 0, (uint32_t)RARRAY_LEN(given), tags);
}

void glue_tags_into(larder_extra *extra, const glue_tags *tags, VALUE stamp) {
    extra->tags = tags->list;
    extra->tag_count = tags->count;
    if (!NIL_P(stamp)) {
        glue_check_string(stamp, "stamp");
        if ((size_t)RSTRING_LEN(stamp) != sizeof extra->stamp) {
            rb_raise(rb_eTypeError, "stamp has %ld bytes; it is what a call of stamp answered",
                     RSTRING_LEN(stamp));
        }
        memcpy(&extra->stamp, RSTRING_PTR(stamp), sizeof extra->stamp);
    }
}

/* A stamp, or nil: no file is attached. */
static VALUE cache_stamp(VALUE self) {
    larder_stamp stamp;

    if (larder_stamp_now(glue_attach_to_read(self), &stamp) != LARDER_OK) {
        return Qnil;
    }
    return rb_obj_freeze(rb_str_new((const char *)&stamp, sizeof stamp));
}

static void run_deletion(larder *engine, void *arg) {
    deletion *this = arg;

    this->status = larder_delete_tagged(engine, this->tags->list, this->tags->count, &this->call);
}

/* All of them, whatever happens to some. */
static VALUE cache_delete_tagged(VALUE self, VALUE given, VALUE now) {
    glue_tags tags;
    deletion this = {.tags = &tags, .call = glue_call(now)};
    larder_status wrong = LARDER_OK;

    glue_check_array(given, "tags");
    for (long i = 0; i < RARRAY_LEN(given); i++) {
        glue_check_string(rb_ary_entry(given, i), "a tag");
    }
    for (long from = 0; from < RARRAY_LEN(given); from += LARDER_MAX_TAGS) {
        long left = RARRAY_LEN(given) - from;
        pack(given, from, (uint32_t)(left < LARDER_MAX_TAGS ? left : LARDER_MAX_TAGS), &tags);
        do {
            glue_attach_and_call_released(self, run_deletion, &this);
        } while (this.status != LARDER_OK && glue_attached_again(self));
        wrong = this.status == LARDER_OK ? wrong : this.status;
    }
    RB_GC_GUARD(tags.packed);
    if (wrong != LARDER_OK) {
        glue_raise_unless_attached(self, Qnil);
        glue_raise(wrong);
    }
    return Qtrue;
}

void glue_tags_init(VALUE cache_class) {
    rb_define_const(cache_class, "MAX_TAGS", UINT2NUM(LARDER_MAX_TAGS));
    rb_define_method(cache_class, "stamp", cache_stamp, 0);
    rb_define_private_method(cache_class, "_delete_tagged", cache_delete_tagged, 2);
}
