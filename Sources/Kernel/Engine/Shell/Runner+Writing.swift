import PawlBase
import PawlCore
import PawlJournal

// Writing of a lane's bytes to the file.
extension Runner {
    /// `isAlone`: none of these bytes can exist already.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64, slot: Int, isAlone: Bool) -> Bool {
        let range = ByteRange(offset, offset + Int64(bytes.count))
        guard isAlone else { return unsafe writeMissing(bytes, range, slot: slot) }
        guard unsafe write(bytes, at: offset) else { return false }
        place?.file?.advanceLane(slot: slot, to: range.end)
        return true
    }

    /// Writes only missing bytes where several lanes receive the same: those written first stay as they are.
    ///
    /// A digest may have been computed over them already, and the others may come from a node with other
    /// content.
    private func writeMissing(_ bytes: UnsafeRawBufferPointer, _ range: ByteRange, slot: Int) -> Bool {
        sync()
        for gap in machine.lanes.map.done.gaps(in: range) {
            let part = Int(gap.start - range.start)..<Int(gap.end - range.start)
            guard unsafe write(UnsafeRawBufferPointer(rebasing: bytes[part]), at: gap.start) else { return false }
        }
        place?.file?.advanceLane(slot: slot, to: range.end)
        return true
    }

    private func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Bool {
        guard let place else { return false }
        do throws(Failure) {
            try unsafe place.write(bytes, at: offset)
            return true
        } catch {
            feed { machine, _ in machine.diskFailed(error) }
            return false
        }
    }

    /// The transport itself has written the bytes of `range` to the file.
    func wrote(_ range: ByteRange, slot: Int) {
        place?.file?.wrote(range)
        place?.file?.advanceLane(slot: slot, to: range.end)
    }
}
