import Glibc

/// Detection of instrumented programs, in which tests cannot measure memory and time.
package enum Sanitizer {
    /// Whether AddressSanitizer or ThreadSanitizer is in this process.
    package static let isOn = has("__asan_init") || has("__tsan_init")

    private static func has(_ symbol: String) -> Bool { unsafe dlsym(nil, symbol) != nil }
}
