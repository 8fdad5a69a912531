/*
 * tree_objects.c — objects that Ruby code takes apart and makes again: Larder::Tree (lib/larder/tree.rb).
 */
#include "value/tree_objects.h"

static VALUE tree_module, unreadable;
static bool is_loaded;
static ID id_take, id_take_list, id_make;

bool tree_objects_loaded(void) { return is_loaded; }

VALUE tree_objects_take(VALUE object, VALUE natural, VALUE records) {
    return rb_funcall(tree_module, id_take, 4, object, rb_obj_class(object), natural, records);
}

VALUE tree_objects_take_list(VALUE list, VALUE first, VALUE natural, VALUE records) {
    return rb_funcall(tree_module, id_take_list, 4, list, rb_obj_class(first), natural, records);
}

VALUE tree_objects_make(unsigned code, VALUE parts, bool trusted, VALUE kept, VALUE records) {
    VALUE object =
        rb_funcall(tree_module, id_make, 5, UINT2NUM(code), parts, trusted ? Qtrue : Qfalse, kept, records);

    return object == unreadable ? Qundef : object;
}

/* Larder::Tree._loaded, called when its methods are defined. */
static VALUE set_loaded(VALUE self) {
    is_loaded = true;
    return self;
}

VALUE tree_objects_init(VALUE larder_module) {
    tree_module = rb_define_module_under(larder_module, "Tree");
    unreadable = rb_obj_freeze(rb_obj_alloc(rb_cObject));
    rb_gc_register_mark_object(tree_module);
    rb_gc_register_mark_object(unreadable);
    id_take = rb_intern("take");
    id_take_list = rb_intern("take_list");
    id_make = rb_intern("make");
#define DEFINE_CODE(name, code) rb_define_const(tree_module, #name, INT2FIX(code));
    TREE_CODE_LIST(DEFINE_CODE)
#undef DEFINE_CODE
    rb_define_const(tree_module, "UNREADABLE", unreadable);
    rb_define_private_method(rb_singleton_class(tree_module), "_loaded", set_loaded, 0);
    return tree_module;
}
