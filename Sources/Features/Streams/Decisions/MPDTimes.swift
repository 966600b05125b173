import PawlBase

/// The numbers and times of a representation's segments (ISO/IEC 23009-1 §5.3.9.5, §5.3.9.6).
struct MPDTimes {
    struct Time: Hashable, Sendable {
        var number: Int64
        /// In ticks of the timescale: `$Time$`.
        var start: Int64
        /// In microseconds.
        var duration: Int64
        /// The same in ticks; 0 if it is not stated.
        var ticks: Int64 = 0
        /// How many partial segments it has.
        var parts: Int64 = 1
    }

    static let tooMany = StreamFlaw(
        "it has more than \(MPDSegments.most) segments in a track, or \(MPDSegments.mostInAll) in all")

    private(set) var times: [Time] = []
    private let most: Int
    private let timescale: Int64
    private let lastNumber: Int64?
    /// The Period has no last segment yet.
    private let isRunning: Bool

    init(_ segmentation: MPDSegmentation, in period: MPDDocument.Period, most: Int) throws(StreamFlaw) {
        self.most = most
        isRunning = period.earliest != nil
        timescale = try segmentation.timescale()
        let first = try segmentation.number("startNumber", usually: 1)
        let last = try segmentation.number("endNumber", usually: .max)
        lastNumber = last == .max ? nil : last
        guard first < .max - Int64(MPDSegments.most) * 2 else { throw StreamFlaw("the startNumber in it is too large") }
        if let timeline = segmentation.timeline {
            let offset = try segmentation.number("presentationTimeOffset", usually: 0)
            try add(
                timeline, from: first,
                end: period.duration.map { Int128($0) * Int128(timescale) / 1_000_000 + Int128(offset) })
        } else {
            try add(try segmentation.number("duration", usually: 0), from: first, in: period)
        }
    }

    /// Those of a list of segments of one duration, or of an unknown one: a list that has moved on begins with a later number.
    init(listing count: Int, _ segmentation: MPDSegmentation) throws(StreamFlaw) {
        (most, lastNumber, isRunning) = (count, nil, false)
        timescale = try segmentation.timescale()
        let ticks = try segmentation.number("duration", usually: 0)
        let first = try segmentation.number("startNumber", usually: 1)
        let duration = MPDNumbers.microseconds(ticks, per: timescale)
        for index in 0..<Int64(count) {
            let (number, isTooLarge) = first.addingReportingOverflow(index)
            let (start, overflow) = number.multipliedReportingOverflow(by: ticks)
            guard !isTooLarge, !overflow else { throw StreamFlaw("its times are too large") }
            times.append(Time(number: number, start: start, duration: duration, ticks: ticks))
        }
    }

    private mutating func append(_ time: Time) throws(StreamFlaw) {
        guard times.count < most else { throw Self.tooMany }
        times.append(time)
    }

    /// Segments of the same duration, until the Period ends.
    private mutating func add(_ ticks: Int64, from first: Int64, in period: MPDDocument.Period) throws(StreamFlaw) {
        guard ticks > 0 else {
            // Without durations there is one.
            return try append(Time(number: first, start: 0, duration: period.duration ?? 0))
        }
        var (skipped, count): (Int64, Int64) = (0, 0)
        if let earliest = period.earliest, let end = period.duration {
            // Whole ones only: the last one is still being made.
            func whole(_ time: Int64) -> Int64 {
                Int64(clamping: Int128(time) * Int128(timescale) / (Int128(ticks) * 1_000_000))
            }
            (skipped, count) = (whole(earliest), whole(end))
            if let lastNumber { count = min(count, max(0, lastNumber - first).addingClamped(1)) }
        } else if let lastNumber {
            count = max(0, lastNumber - first).addingClamped(lastNumber >= first ? 1 : 0)
        } else {
            guard let duration = period.duration else {
                throw StreamFlaw("its Period \(period.number) has no duration")
            }
            count = MPDNumbers.count(ticks, per: timescale, in: duration)
        }
        guard count - skipped <= Int64(most) else { throw Self.tooMany }
        let duration = MPDNumbers.microseconds(ticks, per: timescale)
        for index in min(skipped, count)..<count {
            let (start, overflow) = index.multipliedReportingOverflow(by: ticks)
            let (number, isTooLarge) = first.addingReportingOverflow(index)
            guard !overflow, !isTooLarge else { throw StreamFlaw("its times are too large") }
            try append(Time(number: number, start: start, duration: duration, ticks: ticks))
        }
    }

    /// Segments of a timeline; the Period ends at `end`, in ticks.
    private mutating func add(
        _ runs: [MPDSegmentation.Run], from first: Int64, end: Int128?
    ) throws(StreamFlaw) {
        var (number, start) = (first, Int64(0))
        for (index, run) in runs.enumerated() {
            start = run.time ?? start
            number = run.number ?? number
            let following = index + 1 < runs.count ? runs[index + 1].time.map { Int128($0) } : nil
            let limit = following ?? (index + 1 < runs.count ? nil : end)
            let isLast = isRunning && following == nil
            let count = try count(run, from: start, until: limit, isWhole: isLast)
            for _ in 0..<count {
                let (next, overflow) = start.addingReportingOverflow(run.duration)
                guard !overflow, number < .max else { throw StreamFlaw("its times are too large") }
                if let lastNumber, number > lastNumber { return }
                try append(
                    Time(
                        number: number, start: start, duration: MPDNumbers.microseconds(run.duration, per: timescale),
                        ticks: run.duration, parts: run.parts))
                (start, number) = (next, number + 1)
            }
        }
    }

    private func count(
        _ run: MPDSegmentation.Run, from start: Int64, until limit: Int128?, isWhole: Bool
    ) throws(StreamFlaw) -> Int64 {
        guard run.repeats < 0 else {
            guard run.repeats < Int64(most) else { throw Self.tooMany }
            return run.repeats + 1
        }
        guard let limit else { throw StreamFlaw("nothing tells where its SegmentTimeline ends") }
        // What is left after the last whole one counts from a millisecond on, as in `MPDNumbers.count`.
        let (whole, rest) = max(0, limit - Int128(start)).quotientAndRemainder(dividingBy: Int128(run.duration))
        let count = whole + (!isWhole && rest * 1000 >= Int128(timescale) ? 1 : 0)
        guard count <= Int128(most) else { throw Self.tooMany }
        return Int64(count)
    }
}
