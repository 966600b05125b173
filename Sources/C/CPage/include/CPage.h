#ifndef CPAGE_H
#define CPAGE_H
#include <stddef.h>

/// The files of the page, each followed by a zero byte, in the order of `PageAssets.names`.
const unsigned char *_Nonnull pawl_page_content(void);
size_t pawl_page_length(void);

#endif
