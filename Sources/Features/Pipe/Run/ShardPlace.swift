import PawlBase

/// Where shards are published: a folder, or a prefix of a bucket.
protocol ShardPlace: Sendable {
    /// The spool for temporary files.
    var spool: SpoolFolder { get }
    /// The path or URL of a name, for messages.
    func path(of name: String) -> String
    /// The file or object with the name, if there is one.
    func published(_ name: String) throws(Failure) -> (any ShardFile)?
    /// Begins a file or object that gets the name when it is complete.
    func makeDraft(_ name: String) throws(Failure) -> any ShardDraft
    /// Publishes a content; `false` if the name is taken.
    func publish(_ content: SampleContent, as name: String) throws(Failure) -> Bool
    /// Removes leftovers of killed runs, once the name is published.
    func clean(_ name: String)
}

/// A published file or object.
protocol ShardFile: Sendable {
    var length: Int64 { get }
    /// A range of its bytes.
    func content(from start: Int64, length: Int64) throws(Failure) -> SampleContent
}

/// A file or object that is written sequentially and then published.
protocol ShardDraft: Sendable {
    var length: Int64 { get }
    func append(_ bytes: [UInt8]) throws(Failure)
    /// A range of the bytes written so far.
    func content(from start: Int64, length: Int64) -> SampleContent
    /// Publishes it under its name; `false` if the name is taken.
    func publish() throws(Failure) -> Bool
    /// Removes it, as far as possible before the deadline.
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

extension SampleFolder.Existing: ShardFile { var length: Int64 { content.length } }

private struct FolderDraft: ShardDraft {
    let folder: SampleFolder
    let draft: SampleFolder.Draft

    var length: Int64 { draft.length }
    func append(_ bytes: [UInt8]) throws(Failure) { try draft.append(bytes) }
    func content(from start: Int64, length: Int64) -> SampleContent { draft.content(from: start, length: length) }

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
