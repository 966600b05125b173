package import PawlBase

/// A schedule of rate limits by the time of the week: `08:00-18:00 1M, else none`.
///
/// Entries are separated by commas and the first match applies. Each is an interval and a limit:
///
/// - an interval is `08:00-18:00`, over midnight too (`22:00-06:00`); `24:00` is the end of a day, and two
///   equal times are the whole day;
/// - it may follow days: `Mon-Fri 08:00-18:00 1M`, `Sat 0:00-24:00 none`, `Sat-Mon`; an interval over
///   midnight belongs to the day on which it begins;
/// - `else` stands alone and last; without it, there is no limit outside of the intervals;
/// - a limit is `none`, `0` (the same), `pause` (no download runs), or bytes per second as in `--limit-rate`: `500K`, `1.5M`.
package struct RateTimetable: Hashable, Sendable {
    /// Bytes per second; `nil` is no limit, ``paused`` that no download runs.
    package typealias Rate = Int64?

    package static let paused: Rate = 0

    struct Entry: Hashable, Sendable {
        /// Minutes of the week, as half-open ranges.
        var minutes: [Range<Int>]
        var rate: Rate
    }

    /// The text that was parsed.
    package let text: String
    let entries: [Entry]
    let otherwise: Rate

    package init(parsing text: String) throws(Failure) {
        self.text = text
        var entries: [Entry] = []
        var otherwise: Rate?
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let words = part.split { $0 == " " || $0 == "\t" }.map(String.init)
            guard otherwise == nil else { throw RateTimetable.failure(text, "\"else\" is not its last entry") }
            if words.count == 2, words[0].lowercased() == "else" {
                otherwise = .some(try RateTimetable.rate(words[1], in: text))
            } else {
                entries.append(try RateTimetable.entry(words, in: text))
            }
        }
        self.entries = entries
        self.otherwise = otherwise ?? nil
    }

    /// The limit in force at this time.
    package func rate(at time: LocalTime) -> Rate { rate(inMinute: time.minuteOfWeek) }

    /// The time until the limit changes; `nil` when it never does.
    ///
    /// A change of the zone's offset in between (summer time) moves it: call again when it is due, and after
    /// a day at most.
    package func nextChange(after time: LocalTime) -> Interval? {
        let present = rate(at: time)
        let week = LocalTime.minutesOfWeek
        let edges = Set(entries.flatMap { $0.minutes.flatMap { [$0.lowerBound, $0.upperBound % week] } })
        let waits = edges.map { edge in
            let ahead = (edge - time.minuteOfWeek + week) % week
            return ahead == 0 ? week : ahead
        }
        let next = waits.sorted().first { rate(inMinute: (time.minuteOfWeek + $0) % week) != present }
        return next.map { .seconds(Double($0 * 60 - time.second)) }
    }

    private func rate(inMinute minute: Int) -> Rate {
        guard let entry = entries.first(where: { $0.minutes.contains { $0.contains(minute) } }) else {
            return otherwise
        }
        return entry.rate
    }
}

/// A time of the week in the caller's time zone.
package struct LocalTime: Hashable, Sendable {
    /// Minutes since Monday 0:00, below ``minutesOfWeek``.
    package let minuteOfWeek: Int
    /// Seconds into the minute.
    package let second: Int

    package static let minutesOfDay = 24 * 60
    package static let minutesOfWeek = 7 * 24 * 60

    /// `offset` is the zone's, in seconds east of Greenwich, at that time.
    package init(_ time: UnixTime, offset: Int) {
        // The first day of the epoch was a Thursday.
        let seconds = time.seconds + Int64(offset) + 3 * 86_400
        let week = Int64(LocalTime.minutesOfWeek) * 60
        let inWeek = Int(((seconds % week) + week) % week)
        minuteOfWeek = inWeek / 60
        second = inWeek % 60
    }
}
