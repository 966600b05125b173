// The one door to libcrypto: message digests only.
#pragma once
#include <openssl/evp.h>
