// The one door to libcurl: non-variadic wrappers for the variadic calls that Swift cannot make.
#pragma once
#include <curl/curl.h>
