/// How an object is divided into the parts of an upload.
package struct PartSizes: Hashable, Sendable {
    /// The size of the first part.
    package let first: Int64
    /// Whether later parts are larger, since nobody knows how many there will be.
    package let grows: Bool

    /// What is stored in one request.
    package static let single: Int64 = 8 << 20
    /// The most parts that S3 allows.
    package static let most = 10_000
    private static let step = 1_000

    /// The sizes for an object of `total` bytes, if that is known.
    package init(total: Int64?) {
        grows = total == nil
        // In whole mebibytes, so that every run and every machine finds the same.
        let least = max(0, min(total ?? 0, Int64.max - (1 << 40))) / Int64(Self.most - 1) + 1
        first = max(Self.single, (least + (1 << 20) - 1) & ~((1 << 20) - 1))
    }

    package init(first: Int64, grows: Bool) {
        self.first = first
        self.grows = grows
    }

    /// The size of part `number`, from 1; the last one may be smaller.
    package func size(of number: Int) -> Int64 {
        precondition(number > 0, "parts are counted from 1")
        return grows ? first << Int64(min((number - 1) / Self.step, 10)) : first
    }

    /// The parts that another run stored and this one continues: the first ones, each whole.
    package func usable(_ parts: [S3Part]) -> [S3Part] {
        var usable: [S3Part] = []
        for part in parts.sorted(by: { $0.number < $1.number }) {
            guard part.number == usable.count + 1, part.size == size(of: part.number) else { break }
            usable.append(part)
        }
        return usable
    }
}
