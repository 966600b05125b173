// Parsing of one entry of a timetable.
import PawlBase

extension RateTimetable {
    private static let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

    static func entry(_ words: [String], in text: String) throws(Failure) -> Entry {
        guard words.count == 2 || words.count == 3 else {
            throw failure(text, "an entry is not \"[DAYS] FROM-TO LIMIT\" or \"else LIMIT\"")
        }
        let days = words.count == 3 ? try daySpan(words[0], in: text) : 0..<7
        let times = parts(of: words[words.count - 2])
        guard times.count == 2, let from = minute(times[0]), let to = minute(times[1]), from < LocalTime.minutesOfDay
        else { throw failure(text, "\"\(words[words.count - 2])\" is not an interval like 08:00-18:00") }
        let length = to > from ? to - from : to + LocalTime.minutesOfDay - from
        let minutes = days.flatMap { day -> [Range<Int>] in
            let start = day % 7 * LocalTime.minutesOfDay + from
            let end = start + length
            let week = LocalTime.minutesOfWeek
            return end <= week ? [start..<end] : [start..<week, 0..<(end - week)]
        }
        return Entry(minutes: minutes, rate: try rate(words[words.count - 1], in: text))
    }

    /// Days from Monday on, beyond the seventh when they go over the week's end.
    private static func daySpan(_ word: String, in text: String) throws(Failure) -> Range<Int> {
        let names = parts(of: word).map { $0.lowercased() }
        let numbers = names.compactMap { days.firstIndex(of: $0) }
        guard numbers.count == names.count, let first = numbers.first, let last = numbers.last, numbers.count <= 2
        else { throw failure(text, "\"\(word)\" is neither a day like Mon nor a range of days like Mon-Fri") }
        return first..<(last < first ? last + 8 : last + 1)
    }

    /// The parts around a hyphen or a dash.
    private static func parts(of word: String) -> [Substring] {
        word.split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "\u{2013}" }
    }

    private static func minute(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].utf8.count == 2, (1...2).contains(parts[0].utf8.count),
            parts.allSatisfy({ $0.utf8.allSatisfy(\.isDigit) }), let hour = Int(parts[0]), let minute = Int(parts[1]),
            minute < 60, hour < 24 || hour == 24 && minute == 0
        else { return nil }
        return hour * 60 + minute
    }

    static func rate(_ word: String, in text: String) throws(Failure) -> Rate {
        if word.lowercased() == "none" { return nil }
        if word.lowercased() == "pause" { return paused }
        guard let bytes = ByteQuantity.parse(word) else {
            throw failure(text, "\"\(word)\" is not a limit like 500K, 1M, none or pause")
        }
        return bytes == 0 ? nil : bytes
    }

    static func failure(_ text: String, _ why: String) -> Failure {
        Failure(
            .badOption, "cannot read the timetable", at: text, because: why,
            remedy: "write it like \"08:00-18:00 1M, else none\"")
    }
}
