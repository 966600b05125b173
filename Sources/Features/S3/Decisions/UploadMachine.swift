/// The upload of one object: in one request, or in parts that another machine can continue.
///
/// One request at a time is made. The object exists as a whole or not at all; where it has to be the first of its key,
/// another one is compared with it.
package struct UploadMachine: Hashable, Sendable {
    /// A request, or the end.
    package enum Action: Hashable, Sendable {
        /// Store all bytes in one request.
        case put
        /// Begin an upload in parts.
        case begin
        /// Store the note beside the target.
        case note(upload: String)
        /// Store the next bytes as this part.
        case part(Int, upload: String)
        case complete([S3Part], upload: String)
        /// Look at the object that was there first.
        case compare
        case abort(upload: String)
        case deleteNote
        case end(Outcome)
    }

    package enum Outcome: Hashable, Sendable {
        case stored
        /// An equal object was there first.
        case already
        /// Another object was there first.
        case differs
        /// The upload and its object are gone.
        case lost
    }

    /// The result of a request.
    package enum Result: Hashable, Sendable {
        case done
        case begun(upload: String)
        case part(S3Part)
        /// There is an object of this key already.
        case exists
        /// There is no such upload any more.
        case gone
        /// Whether the object that was there first is this one; `nil` if there is none.
        case compared(Bool?)
    }

    private enum Stage: Hashable {
        case sending
        case comparing
        /// Removes what is of no use any more.
        case cleaning(Outcome)
    }

    package let sizes: PartSizes
    /// The upload in parts, if there is one.
    package private(set) var upload: String?
    /// Those that the store has, without a gap.
    package private(set) var parts: [S3Part] = []
    /// Whether a note beside the target names the upload, so that another run can continue it.
    package let isContinuable: Bool
    private var isNoted = false
    private var stage = Stage.sending

    package init(sizes: PartSizes, isContinuable: Bool = true) {
        self.sizes = sizes
        self.isContinuable = isContinuable
    }

    /// Continues what another run noted; `parts` are the store's.
    package init(continuing note: UploadNote, parts: [S3Part]) {
        sizes = note.sizes
        upload = note.upload
        self.parts = note.sizes.usable(parts)
        assert(self.parts.map(\.number).elementsEqual(1..<self.parts.count + 1), "parts have no gap")
        isContinuable = true
        isNoted = true
    }

    /// How many bytes of the object the store has.
    package var stored: Int64 { parts.reduce(0) { $0 + $1.size } }

    /// The size of the next part, or of an object in one request.
    package var nextSize: Int64 { sizes.size(of: min(parts.count + 1, PartSizes.most)) }

    /// What to do with `buffered` bytes that follow the stored ones; `nil` while there are too few.
    package func next(buffered: Int64, isAtEnd: Bool) -> Action? {
        switch stage {
        case .sending: send(buffered: buffered, isAtEnd: isAtEnd)
        case .comparing: .compare
        case .cleaning(let outcome):
            if let upload, outcome != .stored {
                .abort(upload: upload)
            } else if isNoted {
                .deleteNote
            } else {
                .end(outcome)
            }
        }
    }

    private func send(buffered: Int64, isAtEnd: Bool) -> Action? {
        guard let upload else {
            if isAtEnd, buffered <= sizes.first { return .put }
            // An object of exactly that size is known only at its end.
            return buffered > sizes.first ? .begin : nil
        }
        guard isNoted || !isContinuable else { return .note(upload: upload) }
        if buffered >= nextSize || isAtEnd && buffered > 0 { return .part(parts.count + 1, upload: upload) }
        return isAtEnd ? .complete(parts, upload: upload) : nil
    }

    /// A request ended.
    package mutating func ended(_ action: Action, _ result: Result) {
        switch (action, result) {
        case (.put, .done):
            assert(parts.isEmpty, "an object is stored in one request or in parts")
            stage = .cleaning(.stored)
        case (.begin, .begun(let id)):
            assert(upload == nil && parts.isEmpty, "an upload is begun once")
            upload = id
        case (.note, .done):
            assert(upload != nil && isContinuable, "a note names an upload that can be continued")
            isNoted = true
        case (.part(let number, _), .part(let part)):
            precondition(number == parts.count + 1 && part.number == number, "parts are stored in order")
            parts.append(part)
        case (.complete(let completed, let id), .done):
            assert(id == upload && completed == parts, "what is complete are the present upload's parts")
            upload = nil
            stage = .cleaning(.stored)
        // Another worker was first, or the response to this one's request was lost.
        case (.put, .exists), (.complete, .exists): stage = .comparing
        case (.part, .gone), (.complete, .gone):
            upload = nil
            stage = .comparing
        case (.compare, .compared(let isEqual)):
            assert(stage == .comparing, "nothing is compared unless an object was there first")
            stage = .cleaning(isEqual.map { $0 ? .already : .differs } ?? .lost)
        case (.abort, .done): upload = nil
        case (.deleteNote, .done): isNoted = false
        case (_, _): preconditionFailure("\(action) cannot end with \(result)")
        }
    }
}
