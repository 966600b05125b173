package import PawlBase

/// What a download knows of the file that it finished, which distinguishes it from another file of the same name.
package struct FinishedFile: Sendable {
    /// The file when it was finished; `nil` in the record of a version that did not keep it.
    package var stamp: FileStamp?
    /// `nil` in an incomplete record.
    package var length: Int64?
    /// Its addresses, as completion marks name them.
    package var sources: Set<UInt64>
    /// When the download ended.
    package var endedAt: UnixTime?
    /// Whether it was there before the download, which may have found it through a symbolic link.
    package var wasThere = false
    /// Whether another finished download has the same name: a file of the same size and time may be that one's.
    ///
    /// Called only for a file that is not the finished one itself.
    package var sharesName: @Sendable () -> Bool = { false }

    package init(stamp: FileStamp?, length: Int64?, sources: some Sequence<String>, endedAt: UnixTime? = nil) {
        self.stamp = stamp
        self.length = length
        self.sources = Set(sources.map { CRC64.value(of: $0.utf8) })
        self.endedAt = endedAt
    }

    /// What has its name.
    package enum Presence: String, Hashable, Sendable {
        /// Nothing.
        case missing
        /// The file, or a copy of it with its size and time.
        case there
        /// The file itself, written since: it has another length.
        case changed
        /// Another file.
        case other
    }

    /// Decides whether a regular file is the finished one; `mark` reads its completion mark.
    ///
    /// The number of the file with the time of its creation proves it. A copy, such as one from a backup, has its size with
    /// its time, or its mark. A record of an earlier version has only the size and the time of the end.
    package func presence(of found: FileStamp, mark: () -> CompletionMark?) -> Presence {
        if let stamp {
            switch stamp.isSameFile(as: found) {
            case true?: return found.length == length ?? found.length ? .there : .changed
            case nil where stamp.inode == found.inode && stamp.device == found.device:
                if stamp.hasContent(of: found) { return .there }
            case _: break
            }
        }
        guard found.length == length ?? found.length, stamp == nil || !sharesName() else { return .other }
        if let mark = mark() {
            guard sources.contains(mark.fingerprint.source) else { return .other }
            if mark.length == found.length, mark.modified == found.modified { return .there }
        }
        guard !sharesName() else { return .other }
        if let stamp { return stamp.hasContent(of: found) ? .there : .other }
        guard let endedAt else { return .there }
        return found.modified / 1_000_000_000 <= endedAt.seconds + Self.slack ? .there : .other
    }

    /// The clock of a file server may be a little ahead.
    private static let slack: Int64 = 2
}
