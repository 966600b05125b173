import PawlBase

extension DownloadSnapshot {
    /// ``written`` and ``total`` for readers: `1.20 MiB of 4.00 MiB`, or `1.20 MiB` while the total is unknown.
    public var sizeText: String {
        let done = ByteText.size(written)
        return total.map { "\(done) of \(ByteText.size($0))" } ?? done
    }

    /// ``speed`` for readers: `3.40 MiB/s`.
    public var speedText: String { ByteText.speed(speed) }

    /// ``smoothedSpeed`` for readers: `3.40 MiB/s`.
    public var smoothedSpeedText: String { ByteText.speed(smoothedSpeed) }

    /// ``timeLeft`` for readers: `2 h 05 min`, `3 min 20 s`, `7 s`; `nil` while it is unknown.
    public var timeLeftText: String? { timeLeft.map(ByteText.duration) }
}

/// Sizes, speeds and durations as texts, in binary units (KiB, MiB, GiB), in English.
public enum ByteText {
    /// A number of bytes: `512 B`, `1.50 KiB`, `12.0 MiB`.
    public static func size(_ bytes: Int64) -> String { ByteQuantity.text(bytes) }

    /// Bytes per second: `512 B/s`, `1.50 KiB/s`.
    public static func speed(_ bytesPerSecond: Int64) -> String { ByteQuantity.speed(bytesPerSecond) }

    /// A time, rounded up to seconds: `7 s`, `3 min 20 s`, `2 h 05 min`, `3 d 4 h`; `0 s` for what is negative.
    public static func duration(_ duration: Duration) -> String {
        guard duration > .zero else { return "0 s" }
        let (seconds, fraction) = duration.components
        let whole = fraction == 0 ? seconds : seconds.addingReportingOverflow(1).partialValue
        let (days, hours, minutes) = (whole / 86_400, whole / 3600 % 24, whole / 60 % 60)
        if days > 0 { return "\(days) d \(hours) h" }
        if hours > 0 { return "\(hours) h \(minutes < 10 ? "0" : "")\(minutes) min" }
        return minutes > 0 ? "\(minutes) min \(whole % 60 < 10 ? "0" : "")\(whole % 60) s" : "\(whole) s"
    }
}
