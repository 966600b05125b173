#ifndef CPAGE_H
#define CPAGE_H
#include <stddef.h>

/// The files of the page, each followed by a zero byte, in the order of `PageAssets.names`.
const unsigned char *_Nonnull pawl_page_content(void);
size_t pawl_page_length(void);

/// A picture of the page, whose bytes may be zero.
struct pawl_page_picture {
    const char *_Nonnull name;
    const unsigned char *_Nonnull bytes;
    size_t length;
};
const struct pawl_page_picture *_Nonnull pawl_page_pictures(void);
size_t pawl_page_picture_count(void);

#endif
