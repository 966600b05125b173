import PawlCore
import PawlEngine
import Synchronization

/// A finished part file on its way to its final name.
struct FakePublication: Sendable {
    let disk: FakeDisk
    let file: FakePartFile
    let claim: Claim
    let name: String
    let holder: Int
    let length: Int
    let modified: UnixTime?

    private func path(of name: String) -> String { claim.folder + "/" + name }

    /// `nil` when a crash came first.
    func run() -> Result<String, Failure>? {
        let (holder, length) = (holder, length)
        let taken = file.contents.withLock { contents -> (bytes: [UInt8], written: ByteRangeSet)? in
            guard contents.holder == holder else { return nil }
            return (Array(contents.bytes.prefix(length)), contents.written)
        }
        guard let taken else { return nil }
        if let failure = disk.troubles.publish { return .failure(failure) }
        guard let free = freeName() else {
            let place = path(of: name)
            return .failure(Failure(.fileExists, "cannot publish", at: place, because: "it is there"))
        }
        if !taken.written.contains(ByteRange(0, Int64(length))) {
            disk.violate("\(path(of: name)): published with holes: \(taken.written.runs) of \(length)")
        }
        let (modified, part, final) = (modified, path(of: name), path(of: free))
        disk.state.withLock { state in
            state.parts[part] = nil
            state.finished[final] = FakeDisk.Finished(taken.bytes, modified: modified)
        }
        disk.letGo(holder)
        disk.timeline.note("disk: published \(final)")
        return .success(final)
    }

    private func freeName() -> String? {
        guard disk.finished(path(of: name)) != nil else { return name }
        switch claim.ifExists {
        case .overwrite: return name
        case .skip, .fail, .resume: return nil
        case .rename:
            return (1...).lazy.map { FileName.numbered(name, $0) }.first {
                disk.finished(path(of: $0)) == nil
            }
        }
    }
}
