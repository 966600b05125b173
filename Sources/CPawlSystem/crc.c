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
#include <nmmintrin.h>
__attribute__((target("sse4.2"))) static uint64_t with_instructions(
    uint64_t value, const unsigned char *bytes, size_t length) {
    for (; length >= 8; bytes += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        value = _mm_crc32_u64(value, word);
    }
    while (length-- > 0) value = _mm_crc32_u8((uint32_t)value, *bytes++);
    return value;
}
static int has_instructions(void) { return __builtin_cpu_supports("sse4.2"); }
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <sys/auxv.h>
__attribute__((target("+crc"))) static uint64_t with_instructions(
    uint64_t value, const unsigned char *bytes, size_t length) {
    for (; length >= 8; bytes += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        value = __crc32cd((uint32_t)value, word);
    }
    while (length-- > 0) value = __crc32cb((uint32_t)value, *bytes++);
    return value;
}
// HWCAP_CRC32
static int has_instructions(void) { return (getauxval(AT_HWCAP) & (1 << 7)) != 0; }
#else
static uint64_t with_instructions(uint64_t value, const unsigned char *bytes, size_t length) {
    return with_tables(PAWL_CRC32C, value, bytes, length);
}
static int has_instructions(void) { return 0; }
#endif

uint64_t pawl_crc(int kind, uint64_t crc, const void *bytes, size_t length) {
    uint64_t all = kind == PAWL_CRC64NVME ? UINT64_MAX : UINT32_MAX;
    uint64_t value = crc ^ all;
    value = kind == PAWL_CRC32C && has_instructions() ? with_instructions(value, bytes, length)
                                                      : with_tables(kind, value, bytes, length);
    return value ^ all;
}

uint64_t pawl_crc_portable(int kind, uint64_t crc, const void *bytes, size_t length) {
    uint64_t all = kind == PAWL_CRC64NVME ? UINT64_MAX : UINT32_MAX;
    return with_tables(kind, crc ^ all, bytes, length) ^ all;
}
