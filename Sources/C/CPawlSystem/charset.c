#include "CPawlSystem.h"

#include <iconv.h>

long pawl_to_utf8(const char *charset, const void *bytes, size_t length, void *result, size_t room) {
  iconv_t converter = iconv_open("UTF-8", charset);
  if (converter == (iconv_t)-1) return -1;
  char *from = (char *)bytes, *to = result;
  size_t left = room;
  // A character at the end may wait for a combining one: the second call writes it.
  bool isWhole = iconv(converter, &from, &length, &to, &left) == 0 && length == 0 &&
                 iconv(converter, NULL, NULL, &to, &left) != (size_t)-1;
  iconv_close(converter);
  return isWhole ? (long)(room - left) : -1;
}
