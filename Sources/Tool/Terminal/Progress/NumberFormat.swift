import Glibc

/// Human-readable numbers, each in a bounded number of columns.
package enum NumberFormat {
    private static let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

    /// `1023 B`, `1.23 KiB`, `12.3 MiB`: at least three significant digits, truncated, at most 8 columns.
    package static func size(_ bytes: Int64) -> String {
        let unit = unit(for: bytes)
        return "\(number(bytes, in: unit)) \(units[unit])"
    }

    /// `12.3/45.6 MiB`: both in the unit of the second, at most 13 columns.
    package static func size(_ done: Int64, of total: Int64) -> String {
        let unit = unit(for: total)
        return "\(number(done, in: unit))/\(number(total, in: unit)) \(units[unit])"
    }

    /// `1.23 MiB/s`, at most 10 columns, in the units of `size`.
    package static func speed(_ bytesPerSecond: Int64) -> String {
        let unit = unit(for: bytesPerSecond)
        return "\(number(bytesPerSecond, in: unit)) \(units[unit])/s"
    }

    /// `7s`, `1:07`, `1:02:03`, `12h 5m`, `3d 4h`: at most 7 columns; more than 99 days is `>99d`.
    package static func duration(_ seconds: Double) -> String {
        guard seconds < 100 * 86_400 else { return ">99d" }
        let whole = Int(max(0, seconds).rounded(.up))
        let (minutes, hours, days) = (whole / 60, whole / 3600, whole / 86_400)
        if days > 0 { return "\(days)d \(hours % 24)h" }
        if hours > 9 { return "\(hours)h \(minutes % 60)m" }
        if hours > 0 { return "\(hours):\(twoDigits(minutes % 60)):\(twoDigits(whole % 60))" }
        return minutes > 0 ? "\(minutes):\(twoDigits(whole % 60))" : "\(whole)s"
    }

    /// A non-negative value with `decimals` decimals, truncated and not rounded: 100 % appears only at the end.
    package static func fixed(_ value: Double, decimals: Int) -> String {
        guard value.isFinite, value >= 0, value < 1e15 else { return "?" }
        var scale: Int64 = 1
        for _ in 0..<decimals { scale *= 10 }
        // The small offset compensates for decimals that binary fractions cannot represent, such as 0.29 × 100.
        let product = value * Double(scale)
        let scaled = Int64(product + 4 * product.ulp)
        guard decimals > 0 else { return String(scaled) }
        let fraction = String(scaled % scale)
        return "\(scaled / scale)." + String(repeating: "0", count: decimals - fraction.count) + fraction
    }

    private static func twoDigits(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }

    /// The largest unit of which there is at least one.
    private static func unit(for bytes: Int64) -> Int {
        var unit = 0
        var value = Double(bytes)
        while value >= 1024, unit < units.count - 1 {
            value /= 1024
            unit += 1
        }
        return unit
    }

    private static func number(_ bytes: Int64, in unit: Int) -> String {
        guard unit > 0 else { return String(bytes) }
        var value = Double(bytes)
        for _ in 0..<unit { value /= 1024 }
        return fixed(value, decimals: value < 10 ? 2 : value < 100 ? 1 : 0)
    }
}

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

    /// `06:59`, with the date if it is not today's.
    package static func near(_ seconds: Int64) -> String {
        local(local("%F", at: seconds) == local("%F") ? "%H:%M" : "%F %H:%M", at: seconds)
    }
}
