// The only access to zlib: wrappers for its macros.
#pragma once
#if !__has_include(<zlib.h>)
#error "zlib.h is missing: install zlib1g-dev"
#endif
// Input is const.
#define ZLIB_CONST
#include <zlib.h>

// Blocks without a frame, of the largest window.
static inline int pawl_inflate_begin(z_stream *stream) { return inflateInit2(stream, -MAX_WBITS); }

// A member of gzip.
static inline int pawl_gzip_begin(z_stream *stream) {
    return deflateInit2(stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
}
