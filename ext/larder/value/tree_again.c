/*
 * tree_again.c — the table of the objects of a value that were seen.
 */
#include "value/tree_again.h"

/* The page of that number, or a free one. */
static seen_page *page_in(seen_page *page, size_t pages, uint64_t number) {
    size_t at = (size_t)(number ^ number >> 8);

    while (page[at &= pages - 1].page && page[at].page != number) {
        at++;
    }
    return page + at;
}

static void grow_pages(tree_seen *seen) {
    VALUE before = seen->buffer;
    size_t pages = seen->pages * 4;
    seen_page *page = rb_alloc_tmp_buffer(&seen->buffer, (long)(pages * sizeof *page));

    for (size_t i = 0; i < pages; i++) {
        page[i].page = 0;
    }
    for (size_t i = 0; i < seen->pages; i++) {
        if (seen->page[i].page) {
            *page_in(page, pages, seen->page[i].page) = seen->page[i];
        }
    }
    seen->page = page;
    seen->pages = pages;
    if (before) {
        rb_free_tmp_buffer(&before);
    }
}

seen_page *tree_again_page(tree_seen *seen, uint64_t number) {
    seen_page *found = page_in(seen->page, seen->pages, number);

    if (found->page) {
        return found;
    }
    if (++seen->used * 4 > seen->pages * 3) {
        grow_pages(seen);
        found = page_in(seen->page, seen->pages, number);
    }
    found->page = number;
    memset(found->bits, 0, sizeof found->bits);
    return found;
}
