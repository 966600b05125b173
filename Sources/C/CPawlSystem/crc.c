#include "CPawlSystem.h"
#include <pthread.h>
#include <string.h>

// Reflected polynomials; all three begin and end with all bits inverted.
static const uint64_t polynomials[] = {
    [PAWL_CRC32] = 0xEDB88320u,
    [PAWL_CRC32C] = 0x82F63B78u,
    [PAWL_CRC64NVME] = 0x9A6C9329AC4BC9B5u,
};

// tables[kind][k][b]: the effect of byte b followed by k zero bytes.
static uint64_t tables[3][8][256];
static pthread_once_t made = PTHREAD_ONCE_INIT;

static void make_tables(void) {
    for (int kind = 0; kind < 3; kind++) {
        for (unsigned byte = 0; byte < 256; byte++) {
            uint64_t value = byte;
            for (int bit = 0; bit < 8; bit++) value = value & 1 ? (value >> 1) ^ polynomials[kind] : value >> 1;
            tables[kind][0][byte] = value;
        }
        for (int zeros = 1; zeros < 8; zeros++) {
            for (unsigned byte = 0; byte < 256; byte++) {
                uint64_t value = tables[kind][zeros - 1][byte];
                tables[kind][zeros][byte] = tables[kind][0][value & 0xFF] ^ (value >> 8);
            }
        }
    }
}

static uint64_t with_tables(int kind, uint64_t value, const unsigned char *bytes, size_t length) {
    pthread_once(&made, make_tables);
    const uint64_t (*table)[256] = (const uint64_t (*)[256])tables[kind];
    while (length >= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap64(word);
#endif
        word ^= value;
        value = 0;
        for (int place = 0; place < 8; place++) value ^= table[7 - place][(word >> (8 * place)) & 0xFF];
        bytes += 8;
        length -= 8;
    }
    while (length-- > 0) value = table[0][(value ^ *bytes++) & 0xFF] ^ (value >> 8);
    return value;
}

#if defined(__x86_64__)
#include <immintrin.h>

// folds[kind]: x^(D+63) and x^(D-1) modulo the polynomial, reflected, for D of 512 and of 128 bits: a block of 128 bits times
// x^D is the sum of its halves' carry-less products with them.
static uint64_t folds[3][4];
static pthread_once_t folded = PTHREAD_ONCE_INIT;

static uint64_t power(int kind, int exponent) {
    uint64_t value = kind == PAWL_CRC64NVME ? 1ull << 63 : 1ull << 31;
    while (exponent-- > 0) value = value & 1 ? (value >> 1) ^ polynomials[kind] : value >> 1;
    return kind == PAWL_CRC64NVME ? value : value << 32;
}

static void make_folds(void) {
    for (int kind = 0; kind < 3; kind++) {
        folds[kind][0] = power(kind, 512 + 63);
        folds[kind][1] = power(kind, 512 - 1);
        folds[kind][2] = power(kind, 128 + 63);
        folds[kind][3] = power(kind, 128 - 1);
    }
}

#define FOLD(block, by, next)                                                                       \
    _mm_xor_si128(                                                                                  \
        next, _mm_xor_si128(_mm_clmulepi64_si128(block, by, 0x00), _mm_clmulepi64_si128(block, by, 0x11)))

// At least 64 bytes, as "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction" (Intel, 2009) folds them.
__attribute__((target("pclmul,sse4.2"))) static uint64_t with_products(
    int kind, uint64_t value, const unsigned char *bytes, size_t length) {
    pthread_once(&folded, make_folds);
    const __m128i far = _mm_set_epi64x((long long)folds[kind][1], (long long)folds[kind][0]);
    const __m128i near = _mm_set_epi64x((long long)folds[kind][3], (long long)folds[kind][2]);
    const __m128i *block = (const __m128i *)bytes;
    __m128i sums[4];
    for (int place = 0; place < 4; place++) sums[place] = _mm_loadu_si128(block + place);
    sums[0] = _mm_xor_si128(sums[0], _mm_set_epi64x(0, (long long)value));
    for (block += 4, length -= 64; length >= 64; block += 4, length -= 64) {
        for (int place = 0; place < 4; place++) {
            sums[place] = FOLD(sums[place], far, _mm_loadu_si128(block + place));
        }
    }
    __m128i sum = sums[0];
    for (int place = 1; place < 4; place++) sum = FOLD(sum, near, sums[place]);
    for (; length >= 16; block++, length -= 16) sum = FOLD(sum, near, _mm_loadu_si128(block));
    unsigned char rest[16];
    _mm_storeu_si128((__m128i *)rest, sum);
    value = with_tables(kind, 0, rest, sizeof rest);
    return with_tables(kind, value, (const unsigned char *)block, length);
}

static uint64_t with_instructions(int kind, uint64_t value, const unsigned char *bytes, size_t length) {
    return length < 64 ? with_tables(kind, value, bytes, length) : with_products(kind, value, bytes, length);
}
static int has_instructions(int kind) {
    (void)kind;
    return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.2");
}
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <sys/auxv.h>
__attribute__((target("+crc"))) static uint64_t with_instructions(
    int kind, uint64_t value, const unsigned char *bytes, size_t length) {
    for (; length >= 8; bytes += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        value = kind == PAWL_CRC32C ? __crc32cd((uint32_t)value, word) : __crc32d((uint32_t)value, word);
    }
    while (length-- > 0) {
        value = kind == PAWL_CRC32C ? __crc32cb((uint32_t)value, *bytes++) : __crc32b((uint32_t)value, *bytes++);
    }
    return value;
}
// HWCAP_CRC32
static int has_instructions(int kind) {
    return kind != PAWL_CRC64NVME && (getauxval(AT_HWCAP) & (1 << 7)) != 0;
}
#else
static uint64_t with_instructions(int kind, uint64_t value, const unsigned char *bytes, size_t length) {
    return with_tables(kind, value, bytes, length);
}
static int has_instructions(int kind) {
    (void)kind;
    return 0;
}
#endif

uint64_t pawl_crc(int kind, uint64_t crc, const void *bytes, size_t length) {
    uint64_t all = kind == PAWL_CRC64NVME ? UINT64_MAX : UINT32_MAX;
    uint64_t value = crc ^ all;
    value = has_instructions(kind) ? with_instructions(kind, value, bytes, length)
                                   : with_tables(kind, value, bytes, length);
    return value ^ all;
}

uint64_t pawl_crc_portable(int kind, uint64_t crc, const void *bytes, size_t length) {
    uint64_t all = kind == PAWL_CRC64NVME ? UINT64_MAX : UINT32_MAX;
    return with_tables(kind, crc ^ all, bytes, length) ^ all;
}

// a * b modulo the polynomial, all reflected.
static uint64_t product(int kind, uint64_t a, uint64_t b) {
    uint64_t sum = 0;
    for (uint64_t bit = kind == PAWL_CRC64NVME ? 1ull << 63 : 1ull << 31; bit != 0; bit >>= 1) {
        if (a & bit) sum ^= b;
        b = b & 1 ? (b >> 1) ^ polynomials[kind] : b >> 1;
    }
    return sum;
}

uint64_t pawl_crc_combined(int kind, uint64_t first, uint64_t second, uint64_t length) {
    uint64_t one = kind == PAWL_CRC64NVME ? 1ull << 63 : 1ull << 31;
    // x^8, squared for each bit of the length; `first` is moved by as many zero bytes.
    uint64_t step = one >> 8;
    for (; length != 0; length >>= 1, step = product(kind, step, step)) {
        if (length & 1) first = product(kind, step, first);
    }
    return first ^ second;
}
