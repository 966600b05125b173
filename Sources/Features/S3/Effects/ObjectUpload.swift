package import PawlBase
import PawlDisk
package import PawlJournal
import PawlSystem

/// Bytes on their way to an object: at most a few parts of them are in memory.
///
/// The parts that the store has are the journal: an upload that is stopped, or whose process is killed, is continued by
/// any machine with the same note (``UploadNote``). Requests are made on a thread of its own.
package final class ObjectUpload: Sendable {
    /// What is stored, and how.
    package struct Plan: Sendable {
        package var target: WebAddress
        /// Whether an object that is there already is compared instead of replaced.
        package var isFirst: Bool
        package var type: String?
        /// See ``ObjectStore/Facts/content``.
        package var content: String?
        /// The number of bytes, if known.
        package var total: Int64?
        /// For another machine that continues.
        package var facts: JournalFacts
        /// Whether another run can continue the upload; if not, a failed upload is aborted.
        package var isContinuable: Bool

        package init(
            target: WebAddress, isFirst: Bool,
            facts: JournalFacts = JournalFacts(sources: [], representation: Representation(), name: ""),
            isContinuable: Bool = true
        ) {
            self.target = target
            self.isFirst = isFirst
            self.facts = facts
            self.isContinuable = isContinuable
        }
    }

    private struct State {
        var machine: UploadMachine
        /// Whole parts that wait, and the one that grows.
        var ready: [[UInt8]] = []
        var filling: [UInt8] = []
        /// Bytes that were accepted since the beginning.
        var accepted: Int64
        var isAtEnd = false
        var isStopped = false
        /// Whether the parts are to be deleted.
        var isDiscarded = false
        /// Whether the thread makes no more requests.
        var isOver = false
        var result: Result<UploadMachine.Outcome, Failure>?
        var completion: (@Sendable (Result<UploadMachine.Outcome, Failure>) -> Void)?

        /// The size at which the growing part is whole.
        var wholeSize: Int64 { machine.sizes.size(of: min(machine.parts.count + ready.count + 1, PartSizes.most)) }
        var isBusy: Bool { ready.count > 1 }

        mutating func take(_ bytes: UnsafeRawBufferPointer) {
            var rest = unsafe bytes
            while unsafe !rest.isEmpty {
                let size = Int(wholeSize)
                let count = min(rest.count, size - filling.count)
                if filling.isEmpty { filling.reserveCapacity(min(size, 16 << 20)) }
                unsafe filling.append(contentsOf: rest[..<count])
                unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                guard filling.count == size else { continue }
                ready.append(filling)
                filling = []
            }
            accepted += Int64(bytes.count)
        }
    }

    private let store: ObjectStore
    private let plan: Plan
    private let state: Monitor<State>

    /// Begins an upload, or continues one of which the store has these parts.
    package init(_ store: ObjectStore, _ plan: Plan, continuing: (note: UploadNote, parts: [S3Part])? = nil) {
        self.store = store
        self.plan = plan
        let machine =
            continuing.map { UploadMachine(continuing: $0.note, parts: $0.parts) }
            ?? UploadMachine(sizes: PartSizes(total: plan.total), isContinuable: plan.isContinuable)
        state = Monitor(State(machine: machine, accepted: machine.stored))
        SystemThread.detached("pawl-upload", blocksSignals: true) { self.run() }
    }

    /// How many bytes it has, those of an earlier run included: the next one to be written.
    package var offset: Int64 { state.read(\.accepted) }

    /// Whether more bytes may come without filling the memory.
    package var hasRoom: Bool { state.read { !$0.isBusy } }

    /// Takes the next bytes, and returns at once.
    ///
    /// Throws the failure of an earlier request.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        let failure = state.with { state -> Failure? in
            if case .failure(let failure) = state.result { return failure }
            unsafe state.take(bytes)
            return nil
        }
        if let failure { throw failure }
    }

    /// Takes the next bytes, and returns when there is room for more.
    package func append(_ bytes: [UInt8]) throws(Failure) {
        let failure = state.with { state -> Failure? in
            if case .failure(let failure) = state.result { return failure }
            unsafe bytes.withUnsafeBytes { unsafe state.take($0) }
            return nil
        }
        if let failure { throw failure }
        let later = state.wait(until: nil) { state -> Failure?? in
            if case .failure(let failure) = state.result { return .some(failure) }
            if state.isStopped || state.isDiscarded { return .some(abandoned) }
            return state.isBusy ? nil : .some(nil)
        }
        if let failure = later ?? nil { throw failure }
    }

    /// Makes the bytes an object; the result may come on any thread, also before this returns.
    package func finish(_ completion: @escaping @Sendable (Result<UploadMachine.Outcome, Failure>) -> Void) {
        let result = state.with { state -> Result<UploadMachine.Outcome, Failure>? in
            if let result = state.result { return result }
            state.isAtEnd = true
            state.completion = completion
            return nil
        }
        if let result { completion(result) }
    }

    /// Makes the bytes an object, and waits for that.
    package func finish() throws(Failure) -> UploadMachine.Outcome {
        let result = Monitor<Result<UploadMachine.Outcome, Failure>?>(nil)
        finish { outcome in result.with { $0 = outcome } }
        while true {
            if let result = result.wait(until: nil, for: { $0 }) {
                switch result {
                case .success(let outcome): return outcome
                case .failure(let failure): throw failure
                }
            }
        }
    }

    /// Leaves what the store has to a later run.
    package func stop() { state.with { $0.isStopped = true } }

    /// Deletes what the store has, once the present request has ended; the note stays, for another upload to replace.
    package func discard() { state.with { $0.isDiscarded = true } }

    /// The same, and waits until it is done, at most until the deadline.
    package func discard(until deadline: Instant) {
        discard()
        _ = state.wait(until: deadline) { $0.isOver ? () : nil }
    }

    private var abandoned: Failure {
        Failure(
            .unfinished, "cannot store", at: plan.target.redacted,
            because: LocalizableMessage("upload-stopped", "the upload was stopped"), remedy: "\(.resume)")
    }

    // MARK: the thread

    private func run() {
        defer {
            if state.read(\.isDiscarded), let upload = state.read(\.machine.upload) { abort(upload) }
            // Another thread may wait for the end of an upload that was stopped.
            if state.read({ $0.result == nil }) { end(.failure(abandoned)) }
            state.with { $0.isOver = true }
        }
        while let (action, bytes) = nextAction() {
            if case .end(let outcome) = action {
                clean(after: outcome)
                return end(.success(outcome))
            }
            do throws(Failure) {
                let result = try perform(action, bytes)
                state.with { state in
                    // The part is the machine's from here on.
                    if case .part = action { state.ready.removeFirst() }
                    state.machine.ended(action, result)
                }
            } catch {
                abandon(action, error)
                return end(.failure(error))
            }
        }
    }

    /// Aborts the upload of which only the response was lost, when its object exists.
    private func clean(after outcome: UploadMachine.Outcome) {
        let isInParts = !state.read(\.machine.parts.isEmpty)
        guard isInParts, plan.isFirst, plan.isContinuable, outcome != .lost else { return }
        store.abortUploads(at: plan.target, onlyEmpty: true)
    }

    /// Leaves no parts that cannot be continued.
    private func abandon(_ action: UploadMachine.Action, _ failure: Failure) {
        if !plan.isContinuable { return discard() }
        // Those that the store does not put together would be refused again.
        guard case .complete(_, let upload) = action, failure.code == .badResponse, failure.status == 400 else {
            return
        }
        abort(upload)
    }

    /// What remains is found and aborted by a later run.
    private func abort(_ upload: String) { try? store.abort(upload, at: plan.target) }

    private func end(_ result: Result<UploadMachine.Outcome, Failure>) {
        let completion = state.with { state in
            state.result = result
            state.ready = []
            state.filling = []
            defer { state.completion = nil }
            return state.completion
        }
        completion?(result)
    }

    /// Waits for something to do; `nil` when it was stopped.
    private func nextAction() -> (UploadMachine.Action, [UInt8])? {
        let found = state.wait(until: nil) { state -> (UploadMachine.Action, [UInt8])?? in
            if state.isStopped || state.isDiscarded { return .some(nil) }
            if state.isAtEnd, !state.filling.isEmpty {
                state.ready.append(state.filling)
                state.filling = []
            }
            let buffered = state.ready.reduce(Int64(state.filling.count)) { $0 + Int64($1.count) }
            guard let action = state.machine.next(buffered: buffered, isAtEnd: state.isAtEnd) else { return nil }
            return .some((action, state.ready.first ?? []))
        }
        return found ?? nil
    }

    private var payload: ObjectStore.Payload { ObjectStore.Payload([], type: plan.type, content: plan.content) }

    private func perform(_ action: UploadMachine.Action, _ bytes: [UInt8]) throws(Failure) -> UploadMachine.Result {
        let target = plan.target
        switch action {
        case .put:
            var payload = payload
            payload.bytes = bytes
            let result = try store.put(payload, at: target, isFirst: plan.isFirst)
            return result == .exists ? .exists : .done
        case .begin: return .begun(upload: try store.begin(payload, at: target))
        case .note(let upload):
            let note = UploadNote(upload: upload, sizes: state.read(\.machine.sizes), facts: plan.facts)
            _ = try store.put(ObjectStore.Payload(note.bytes), at: UploadNote.address(beside: target))
            return .done
        case .part(let number, let upload):
            return try store.put(part: number, bytes, of: upload, at: target).map { .part($0) } ?? .gone
        case .complete(let parts, let upload):
            switch try store.complete(parts, of: upload, at: target, isFirst: plan.isFirst) {
            case .stored: return .done
            case .exists: return .exists
            case nil: return .gone
            }
        case .compare: return .compared(try compare(bytes))
        case .abort(let upload):
            try store.abort(upload, at: target)
            return .done
        case .deleteNote:
            try store.delete(UploadNote.address(beside: target))
            return .done
        case .end: preconditionFailure("the end is not a request")
        }
    }

    /// Whether the object that is there is the one that was to be stored; `nil` if there is none.
    private func compare(_ bytes: [UInt8]) throws(Failure) -> Bool? {
        guard let facts = try store.head(plan.target) else { return nil }
        let (size, parts) = state.read { ($0.accepted, $0.machine.parts) }
        guard facts.size == size else { return false }
        if let content = plan.content, facts.content == content { return true }
        // The tag of an object that was stored in parts is that of their digests, with their number.
        let isWhole = parts.isEmpty
        let digests = isWhole ? bytes : parts.flatMap { Hexadecimal.bytes($0.entityTag) ?? [] }
        let tag = Hexadecimal.text(ContentDigest.digest(.md5, of: digests)) + (isWhole ? "" : "-\(parts.count)")
        return facts.entityTag == tag
    }
}
