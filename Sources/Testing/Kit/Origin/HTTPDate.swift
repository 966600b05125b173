import Glibc

/// The one date format that HTTP senders may use (RFC 9110 §5.6.7).
package enum HTTPDate {
    package static var now: Int64 { Int64(time(nil)) }

    package static func text(_ seconds: Int64) -> String {
        var instant = time_t(seconds)
        var parts = unsafe tm()
        unsafe gmtime_r(&instant, &parts)
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let day = unsafe "\(days[Int(parts.tm_wday)]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon)])"
        let clock = unsafe "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
        return unsafe "\(day) \(parts.tm_year + 1900) \(clock) GMT"
    }
}
