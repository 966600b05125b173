import PawlBase
import PawlCore
import PawlJournal

// Comparison of bytes on disk with those that the server sends.
extension Runner {
    @discardableResult func compared(_ lane: LaneID, agreed: Bool) -> Bool {
        let elsewhere = agreed ? placesElsewhere(lane) : []
        feed { $0.compared(lane, agreed: agreed, elsewhere: elsewhere, now: $1) }
        return writers.contains { $0.lane == lane }
    }

    /// How many bytes behind the lane's end it has to compare.
    func reachedEnd(_ lane: LaneID) -> Int64 {
        sync()
        return machine.reachedEnd(lane)
    }

    func joined(_ lane: LaneID, agreed: Bool) { feed { $0.joined(lane, agreed: agreed, now: $1) } }

    /// Whether the bytes on disk equal these; `nil` when the disk failed.
    func agrees(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Bool? {
        guard let place else { return nil }
        do throws(Failure) {
            let mine = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
            defer { unsafe mine.deallocate() }
            try unsafe place.read(into: mine, at: offset)
            return unsafe mine.elementsEqual(bytes)
        } catch {
            feed { machine, _ in machine.diskFailed(error) }
            return nil
        }
    }

    /// The places to compare instead, where the lane's bytes do not identify the content.
    ///
    /// Only those that can be read again: of a stream only its last bytes can.
    private func placesElsewhere(_ lane: LaneID) -> [ByteRange] {
        sync()
        guard let (compared, others) = machine.comparisonCandidates(lane), !identifies(compared) else { return [] }
        if let place = others.first(where: identifies) { return [place] }
        return machine.comparisonSpread.filter { bytes(in: $0) != nil }
    }

    /// Whether the bytes on disk identify the content.
    private func identifies(_ range: ByteRange) -> Bool {
        for start in stride(from: range.start, to: range.end, by: Int(ComparisonSample.length)) {
            let place = ByteRange(start, min(start + ComparisonSample.length, range.end))
            if let bytes = bytes(in: place), ComparisonSample.identifies(bytes) { return true }
        }
        return false
    }

    /// Bytes on disk; `nil` where they cannot be read.
    func bytes(in range: ByteRange) -> [UInt8]? {
        guard let place else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(range.count))
        let isRead = unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe (try? place.read(into: buffer, at: range.start)) != nil
        }
        return isRead ? bytes : nil
    }
}
