import Glibc

/// What a test may not measure in an instrumented program: memory and time.
package enum Sanitizer {
    /// Whether AddressSanitizer or ThreadSanitizer is in this process.
    package static let isOn = has("__asan_init") || has("__tsan_init")

    private static func has(_ symbol: String) -> Bool { unsafe dlsym(nil, symbol) != nil }
}
