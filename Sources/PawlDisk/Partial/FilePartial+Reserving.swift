import CPawlSystem
import Glibc
import PawlCore

extension FilePartial {
    func reserve(_ total: Int64) throws(Failure) {
        // A few pages are written at once: if there is no room, the write says so as soon as asking would.
        guard total > 64 * 1024 else { return }
        do throws(SystemError) {
            let allocated = try openFile.status().allocated
            // Blocks that lie beyond `total` do not help, but nobody reserves less than was written.
            let needed = total - allocated
            guard needed > 0 else { return }
            let free = try folder.free()
            guard needed <= free else { throw SystemError(number: ENOSPC) }
            // In memory there is nothing to keep together, and taking the pages early would stall the loop.
            guard syncs else { return }
            try allocate(total)
        } catch {
            throw error.isDiskFull ? noRoom(for: total) : cannotReserve(total, error)
        }
    }

    private func allocate(_ total: Int64) throws(SystemError) {
        for _ in 0..<100 {
            let answer = pawl_allocate(openFile.descriptor, total)
            if answer == EINTR { continue }
            let error = SystemError(number: answer)
            // Without it the file is sparse and grows as it is written.
            if answer == 0 || error.isUnsupported { return }
            // What was allocated before the disk was full is given back.
            if error.isDiskFull { try openFile.truncate(to: length) }
            throw error
        }
    }

    private func noRoom(for total: Int64) -> Failure {
        let allocated = (try? openFile.status().allocated) ?? 0
        let free = (try? folder.free()).map { "\($0)" } ?? "fewer"
        return .diskFull(
            "cannot get room for",
            at: partPath,
            because: "the disk is full: \(max(total - allocated, 0)) more bytes are needed, \(free) are free"
        )
    }

    private func cannotReserve(_ total: Int64, _ error: SystemError) -> Failure {
        .system(.inputOutput, "cannot get room for \(total) bytes in", at: partPath, error)
    }
}
