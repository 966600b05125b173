import CPawlSystem
import Glibc
import PawlBase
import PawlSystem

extension FilePartial {
    func reserve(_ total: Int64) throws(Failure) {
        // A few pages are written at once: a write reports a full disk as soon as a reservation would.
        guard total > 64 * 1024 else { return }
        do throws(SystemError) {
            // A file without a name is new: it has no blocks before the first write.
            let allocated = isNamed || length > 0 ? try openFile.status().allocated : 0
            // Blocks beyond `total` do not help, but no reservation is smaller than what was written.
            let needed = total - allocated
            guard needed > 0 else { return }
            let free = try folder.free()
            guard needed + roomForJournal <= free else { throw SystemError(number: ENOSPC) }
            // In memory there is no fragmentation, and allocating the pages early would stall the loop.
            guard syncs else { return }
            try allocate(total)
        } catch {
            // A quota does not show in what the file system reports.
            throw error.number == ENOSPC ? noSpace(for: total) : cannotReserve(total, error)
        }
    }

    private func allocate(_ total: Int64) throws(SystemError) {
        for _ in 0..<100 {
            let code = pawl_allocate(openFile.descriptor, total)
            if code == EINTR { continue }
            let error = SystemError(number: code)
            // Without reservation the file is sparse and grows as it is written.
            if code == 0 || error.isUnsupported { return }
            // What was allocated before the disk was full is freed again.
            if error.isDiskFull { try openFile.truncate(to: length) }
            throw error
        }
    }

    /// What a new journal takes, with the blocks that file systems need for a new file.
    static let journalRoom: Int64 = 32 << 10

    /// It is created after the reservation, which must not take its room.
    private var roomForJournal: Int64 { journal == nil ? Self.journalRoom : 0 }

    private func noSpace(for total: Int64) -> Failure {
        let allocated = (try? openFile.status().allocated) ?? 0
        let free = try? folder.free()
        var needed = max(total - allocated, 0)
        if let free, needed <= free { needed += roomForJournal }
        return .diskFull(
            "not enough disk space for", at: partPath,
            because: LocalizableMessage(
                "disk-space-needed", "needs \(ByteQuantity.text(needed)), \(free.map(ByteQuantity.text) ?? "less") free"
            ), lacking: .space(needed: max(total - allocated, 0) + roomForJournal))
    }

    private func cannotReserve(_ total: Int64, _ error: SystemError) -> Failure {
        .system(.inputOutput, "cannot reserve \(ByteQuantity.text(total)) for", at: partPath, error)
    }
}
