// The only access to libcrypto: message digests.
#pragma once
#include <openssl/evp.h>
