import PawlCore
import PawlDisk

/// Where shards are published: a folder, or a prefix of a bucket.
protocol ShardPlace: Sendable {
    /// For temporary files.
    var spool: SpoolFolder { get }
    /// The file or object of a name, for messages.
    func path(of name: String) -> String
    /// What has the name; `nil` for nothing.
    func published(_ name: String) throws(Failure) -> (any ShardFile)?
    /// Begins what gets the name when it is whole.
    func makeDraft(_ name: String) throws(Failure) -> any ShardDraft
    /// Publishes a content; `false` when something has the name.
    func publish(_ content: SampleContent, as name: String) throws(Failure) -> Bool
    /// Removes what killed runs left of a name that was published.
    func clean(_ name: String)
}

/// A published file or object.
protocol ShardFile: Sendable {
    var length: Int64 { get }
    /// A part of it.
    func content(from start: Int64, length: Int64) throws(Failure) -> SampleContent
}

/// What is written from its beginning to its end, and then published.
protocol ShardDraft: Sendable {
    var length: Int64 { get }
    func append(_ bytes: [UInt8]) throws(Failure)
    /// A part of what was written.
    func content(from start: Int64, length: Int64) -> SampleContent
    /// Gives it its name; `false` when something else has it.
    func publish() throws(Failure) -> Bool
    /// Leaves nothing of it, as far as that is possible before the deadline.
    func discard(until deadline: Instant)
}

extension SampleFolder: ShardPlace {
    func path(of name: String) -> String { "\(path)/\(name)" }

    func published(_ name: String) throws(Failure) -> (any ShardFile)? { try existing(name) }

    func makeDraft(_ name: String) throws(Failure) -> any ShardDraft {
        FolderDraft(folder: self, draft: try begin(name))
    }

    func publish(_ content: SampleContent, as name: String) throws(Failure) -> Bool {
        try FolderDraft(folder: self, draft: try make(name, of: content)).publish()
    }

    func clean(_ name: String) {}
}

extension SampleFolder.Existing: ShardFile {
    var length: Int64 { content.length }
}

private struct FolderDraft: ShardDraft {
    let folder: SampleFolder
    let draft: SampleFolder.Draft

    var length: Int64 { draft.length }
    func append(_ bytes: [UInt8]) throws(Failure) { try draft.append(bytes) }
    func content(from start: Int64, length: Int64) -> SampleContent {
        draft.content(from: start, length: length)
    }

    func publish() throws(Failure) -> Bool {
        try draft.sync()
        guard try folder.publish(draft) else {
            draft.discard()
            return false
        }
        try folder.syncNames(of: draft)
        return true
    }

    func discard(until deadline: Instant) { draft.discard() }
}
