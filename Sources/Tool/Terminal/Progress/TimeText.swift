import Glibc

/// Times for people.
package enum TimeText {
    /// The local time at `seconds` since 1970, by default now, in a form of strftime(3).
    package static func local(_ form: String, at seconds: Int64 = Int64(Glibc.time(nil))) -> String {
        var time = time_t(seconds)
        var parts = unsafe tm()
        unsafe localtime_r(&time, &parts)
        var buffer = [CChar](repeating: 0, count: 64)
        let length = unsafe strftime(&buffer, buffer.count, form, &parts)
        return String(decoding: buffer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
