import PawlBase

/// Appends the journal's value encodings to a byte array: little endian, LEB128 for counts and offsets.
struct JournalWriter {
    package var bytes: [UInt8] = []

    mutating func put(_ value: some FixedWidthInteger) {
        for shift in stride(from: 0, to: value.bitWidth, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    mutating func putCount(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    mutating func put(_ text: String) {
        putCount(UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    /// Runs as distances from the end of the run before: small numbers, few bytes.
    mutating func put(_ set: ByteRangeSet) {
        putCount(UInt64(set.runs.count))
        var end: Int64 = 0
        for run in set.runs {
            putCount(UInt64(run.start - end))
            putCount(UInt64(run.count))
            end = run.end
        }
    }
}

/// Reads what `JournalWriter` wrote; `nil` at the first malformed value, never a trap.
struct JournalReader {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        self.position = bytes.startIndex
    }

    var isAtEnd: Bool { position == bytes.endIndex }

    mutating func take<Value: FixedWidthInteger>(_: Value.Type) -> Value? {
        let width = Value.bitWidth / 8
        guard bytes.endIndex - position >= width else { return nil }
        var value: Value = 0
        for index in 0..<width { value |= Value(truncatingIfNeeded: bytes[position + index]) << (8 * index) }
        position += width
        return value
    }

    mutating func takeCount() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard position < bytes.endIndex else { return nil }
            let byte = bytes[position]
            position += 1
            let part = UInt64(byte & 0x7F)
            guard (part << shift) >> shift == part else { return nil }
            value |= part << shift
            if byte & 0x80 == 0 { return value }
        }
        return nil
    }

    mutating func takeText() -> String? { takeCount().flatMap { takeText($0) } }

    mutating func takeText(_ count: UInt64) -> String? {
        guard count <= UInt64(bytes.endIndex - position) else { return nil }
        let end = position + Int(count)
        defer { position = end }
        return String(validating: bytes[position..<end], as: UTF8.self)
    }

    mutating func takeSet() -> ByteRangeSet? {
        // Each run takes two bytes or more: a larger count is malformed and must not cost memory.
        guard let count = takeCount(), count <= UInt64(bytes.endIndex - position) / 2 else { return nil }
        var set = ByteRangeSet()
        var end: Int64 = 0
        for index in 0..<count {
            guard let gap = takeCount(), let length = takeCount(), length > 0, gap > 0 || index == 0,
                let distance = Int64(exactly: gap), let span = Int64(exactly: length)
            else { return nil }
            let (start, startOverflows) = end.addingReportingOverflow(distance)
            let (next, nextOverflows) = start.addingReportingOverflow(span)
            guard !startOverflows, !nextOverflows, let range = ByteRange(named: start, next) else { return nil }
            set.insert(range)
            end = next
        }
        return set
    }
}
