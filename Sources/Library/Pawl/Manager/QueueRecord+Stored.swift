#if Queue
// Between the queue's record (`QueueRecord` in Library/Queue), which knows no type of this module, and what programs see.
import PawlBase
import PawlQueue

extension QueueID {
    init(_ id: Download.ID) { self.init(rawValue: id.rawValue) }

    /// 16 hexadecimal digits.
    var text: String { Download.ID(rawValue: rawValue).description }

    /// The digits that sentences show, as lists do.
    var short: String { String(text.prefix(6)) }
}

extension QueueRecord {
    var groupID: GroupID? { group.isEmpty ? nil : GroupID(group) }

    /// Changes the stored options.
    mutating func change(_ edit: (inout StoredOptions) -> Void) {
        var stored = StoredOptions(text: options)
        edit(&stored)
        options = stored.text
    }

    /// Stores why it failed or is paused: code, sentence and parts.
    mutating func keep(_ failure: Failure) {
        errorCode = Int(failure.code.rawValue)
        error = failure.description
        change { $0.failure = failure.stored.text }
    }

    /// The file of that name is not the download's.
    mutating func forgetFile() {
        (name, total) = (nil, nil)
        written = 0
        change { $0.finished = nil }
    }

    /// It will run again: clears the previous outcome.
    mutating func reopen() {
        endedAt = nil
        errorCode = 0
        error = nil
        change {
            $0.failure = nil
            $0.verification = nil
        }
    }
}

extension DownloadSnapshot {
    /// The stored state.
    init(_ record: QueueRecord) { self.init(record, StoredOptions(text: record.options)) }

    /// The stored state; `stored` are its options.
    init(_ record: QueueRecord, _ stored: StoredOptions) {
        self.init(id: Download.ID(rawValue: record.id.rawValue), source: Redaction.address(record.sources[0]))
        state = record.state
        name = stored.newName ?? record.name ?? stored.options.fileName
        written = record.written
        total = record.total
        taskDescription = record.taskDescription
        folder = record.folder
        contentType = record.contentType
        segments = stored.segments
        verification = stored.verification
        error = record.error.map {
            PawlError(kept: $0, code: record.errorCode, of: record.sources[0], parts: stored.failure)
        }
        group = record.group.isEmpty ? nil : record.group
        priority = record.priority
        position = record.position
        addedAt = record.addedAt.seconds
        startedAt = record.startedAt?.seconds
        endedAt = record.endedAt?.seconds
    }
}

extension PawlError {
    /// Restores an error from its stored code, sentence and parts.
    ///
    /// Without parts, or if they are those of another sentence, the sentence is kept whole: a version that does not
    /// know them may have written it.
    init(kept sentence: String, code: Int, of url: String, parts: String?) {
        let code = Failure.Code(rawValue: UInt8(clamping: code))
        let failure = parts.flatMap { try? JSON.parse($0) }.flatMap { Failure(stored: $0) }
        if let failure, failure.code == code, failure.description == sentence {
            self.init(failure, of: url)
        } else {
            self.init(Failure(code, "", at: Redaction.address(url), because: sentence), of: url)
        }
    }
}
#endif
