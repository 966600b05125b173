import CPawlSystem
import Glibc
package import PawlBase
import PawlDisk
package import PawlJournal
import PawlSystem

extension FileDisk {
    /// Begins the part file of `facts` with bytes of other files, which stay as they are.
    ///
    /// The part file and its journal are on disk when this returns. `progress` gets the number of bytes read since its last
    /// call. `permissions` are those of the file that will be replaced.
    package func seed(
        _ seed: Seed, as facts: JournalFacts, length: Int64, ifExists: IfExists, permissions: UInt32? = nil,
        in folder: String, progress: (Int) -> Void = { _ in }
    ) throws(Failure) -> SeededPart {
        var request = Claim(folder: folder, name: facts.name, ifExists: ifExists, facts: facts)
        request.isChosen = true
        var found: ByteRangeSet?
        var isDamaged = false
        var partial: any JournalledFile
        switch try claim(request, adopts: { _ in true }) {
        case .fresh(let made): partial = made
        case .found(let made, let journal):
            partial = made
            found = journal.done.clipped(to: length)
            isDamaged = journal.facts.representation.damage != nil
        case .existing(let made, _):
            try made.restoreOriginal()
            throw Failure.exists(made.path)
        case .skipped(let path): throw Failure.exists(path)
        }
        // Bytes that are wrong although their blocks or pieces are right would be wrong again.
        if found != nil, isDamaged || !seed.keepsPartial {
            partial.discard()
            guard case .fresh(let made) = try claim(request, adopts: { _ in true }) else {
                throw Failure.alreadyDownloading(facts.name)
            }
            (partial, found) = (made, nil)
        }
        var facts = facts
        facts.name = partial.name
        do throws(Failure) {
            let done = try fill(partial, seed, found ?? ByteRangeSet(), length: length, progress)
            // Part files are never open to the writes of others, and always to those of the next run.
            if let permissions, let part = partial.descriptor { fchmod(part, mode_t(permissions & 0o755 | 0o600)) }
            if ifExists == .overwrite { Self.copyAttributes(of: folder + "/" + request.name, to: partial) }
            if let found, found != done {
                try partial.discard(ByteRange(0, max(found.upperBound, done.upperBound)), facts, done: done)
            }
            try partial.close(keeping: facts, done: done)
            return SeededPart(name: facts.name, count: done.count)
        } catch {
            partial.discard()
            throw error
        }
    }

    /// The file that will be replaced may have attributes of its user.
    private static func copyAttributes(of path: String, to partial: any JournalledFile) {
        guard let part = partial.descriptor, let original = try? RegularFile(Array(path.utf8), to: "cannot read") else {
            return
        }
        pawl_copy_attributes(original.file.descriptor, part)
    }

    private func fill(
        _ partial: any JournalledFile, _ seed: Seed, _ found: ByteRangeSet, length: Int64, _ progress: (Int) -> Void
    ) throws(Failure) -> ByteRangeSet {
        switch seed {
        case .file(let path, let done, _):
            var all = found
            let file = try RegularFile(Array(path.utf8), to: "cannot read")
            for run in done.clipped(to: min(length, file.length)).runs {
                for gap in found.gaps(in: run) {
                    try file.copy(gap, to: partial, progress)
                    all.insert(gap)
                }
            }
            return all
        case .blocks(let control, let files):
            var search = BlockSearch(control, partial: partial)
            try search.confirm(found)
            for path in files { try search.scan(RegularFile(Array(path.utf8), to: "cannot read"), progress) }
            return search.done
        }
    }
}

extension RegularFile {
    fileprivate func copy(_ range: ByteRange, to partial: any JournalledFile, _ progress: (Int) -> Void) throws(Failure)
    {
        if range.start == 0, let part = partial.descriptor {
            // Where the file system shares blocks, nothing is copied.
            let error = pawl_copy_data(file.descriptor, part, range.end)
            guard error == 0 else {
                throw Failure.system(.inputOutput, "cannot copy", at: path, SystemError(number: error))
            }
            partial.wrote(range)
            return progress(Int(range.count))
        }
        _ = try unsafe read(range) { (bytes, position) throws(Failure) in
            try unsafe partial.write(bytes, at: position)
            progress(bytes.count)
            return true
        }
    }
}

/// The search for blocks of a file in others; what is found is written at once, so that what was checked is what is used.
private struct BlockSearch {
    private var matcher: ZsyncMatcher
    private let partial: any JournalledFile
    private(set) var done = ByteRangeSet()

    init(_ control: ZsyncControl, partial: any JournalledFile) {
        matcher = ZsyncMatcher(control)
        self.partial = partial
    }

    /// Keeps those blocks of an earlier run's part file that are still the described ones.
    mutating func confirm(_ found: ByteRangeSet) throws(Failure) {
        guard !found.isEmpty else { return }
        let control = matcher.control
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: control.blockLength, alignment: 64)
        defer { unsafe buffer.deallocate() }
        for block in 0..<control.blockCount {
            let range = control.range(block)
            guard found.contains(range) else { continue }
            unsafe _ = buffer.initializeMemory(as: UInt8.self, repeating: 0)
            let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(range.count)])
            try unsafe partial.read(into: part, at: range.start)
            if unsafe matcher.confirm(block, UnsafeRawBufferPointer(buffer)) { done.insert(range) }
        }
    }

    mutating func scan(_ seed: RegularFile, _ progress: (Int) -> Void) throws(Failure) {
        let size = max(4 << 20, 8 * matcher.context)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 4096)
        defer { unsafe buffer.deallocate() }
        matcher.beginFile()
        var position: Int64 = 0
        while position < seed.length, !matcher.isComplete {
            let count = try unsafe seed.read(into: buffer, at: position)
            guard count > 0 else { return }
            let window = unsafe UnsafeRawBufferPointer(rebasing: buffer[..<count])
            let result = unsafe matcher.scan(window, at: position, isLast: count < size)
            for run in ZsyncMatcher.runs(result.matches) {
                let start = Int(run.source - position)
                // Zeros follow the file's end.
                let length = min(Int(run.target.count), count - start)
                if length > 0 {
                    let bytes = unsafe UnsafeRawBufferPointer(rebasing: window[start..<start + length])
                    try unsafe partial.write(bytes, at: run.target.start)
                }
                try writeZeros(ByteRange(run.target.start + Int64(max(0, length)), run.target.end))
                done.insert(run.target)
            }
            guard result.next > position else { return }
            progress(Int(min(result.next, seed.length) - position))
            position = result.next
        }
    }

    private func writeZeros(_ range: ByteRange) throws(Failure) {
        guard !range.isEmpty else { return }
        let zeros = [UInt8](repeating: 0, count: Int(range.count))
        try unsafe zeros.span.bytes.withUnsafeBytes { (bytes) throws(Failure) in
            try unsafe partial.write(bytes, at: range.start)
        }
    }
}

/// Bytes of other files with which a part file begins.
package enum Seed: Hashable, Sendable {
    /// The bytes `done` of the file at this path; without `keepsPartial` a part file that is there already is discarded.
    case file(String, done: ByteRangeSet, keepsPartial: Bool)
    /// The blocks that these files have of the described one, wherever they are in them.
    case blocks(ZsyncControl, files: [String])

    package var keepsPartial: Bool { if case .file(_, _, let keepsPartial) = self { keepsPartial } else { true } }
}

/// A part file that was begun with bytes of other files.
package struct SeededPart: Hashable, Sendable {
    /// The file's name; another one than requested where that is taken.
    package var name: String
    /// How many bytes the part file has.
    package var count: Int64

    package init(name: String, count: Int64) {
        self.name = name
        self.count = count
    }
}
