package import Pawl
import PawlBase

/// The state of all downloads of one command: the active ones, the outcome of the others, and the exit code.
package struct RunLedger: Sendable {
    /// A download that has not ended.
    package struct Entry: Sendable, Hashable {
        package var source: String
        package var name: String?
        /// Whether an attempt failed and no byte has arrived since.
        package var isRetrying = false
        package var state = DownloadState.waiting
    }

    /// Downloads that have not ended, by number.
    package private(set) var active: [UInt64: Entry] = [:]
    package private(set) var finished = 0
    package private(set) var failed = 0
    /// Whether the run has said that downloads wait for descriptors.
    private var hasReportedScarcity = false
    package private(set) var paused = 0
    /// Bytes in finished files.
    package private(set) var finishedBytes: Int64 = 0
    /// Bytes received over the network for finished files.
    package private(set) var receivedBytes: Int64 = 0
    private var firstFailure: UInt8 = 0
    private var lastFailure: UInt8 = 0 { didSet { if firstFailure == 0 { firstFailure = lastFailure } } }

    package init() {}

    /// Records a download as active; `name` is the file's if the user chose it.
    package mutating func add(_ id: UInt64, source: String, name: String? = nil) {
        active[id] = Entry(source: source, name: name)
    }

    /// Forgets a download that another one takes the place of.
    package mutating func drop(_ id: UInt64) { active[id] = nil }

    /// Records what was rejected before it became a download; `source` is its URL, or that of its collection.
    package mutating func refuse(_ error: PawlError, of source: String) -> Report {
        failed += 1
        lastFailure = error.code.rawValue
        return Report(id: nil, source: Redaction.address(source), name: nil, kind: .failed(error))
    }

    /// Records an event and returns the report of it, if any; late events of ended downloads are ignored.
    package mutating func apply(_ kind: DownloadEvent.Kind, of id: UInt64) -> Report? {
        guard let index = active.index(forKey: id) else {
            // Number 0 stands for no single download.
            guard id == 0, case .notice(let text) = kind else { return nil }
            return Report(id: nil, source: "pawl", name: nil, kind: .notice(text.description))
        }
        if case .state(let state) = kind, !isTold(state) {
            active.values[index].state = state
            return nil
        }
        var entry = active.values[index]
        let reported = report(kind, &entry)
        if Self.isEnd(kind) { active.remove(at: index) } else { active.values[index] = entry }
        return reported.map { Report(id: id, source: entry.source, name: entry.name, kind: $0) }
    }

    /// The exit code if the command ends now, possibly unfinished because of an interruption.
    ///
    /// Of several failures that of the last one, `ofFirst`: of the first.
    package func exitCode(isUnfinished: Bool, ofFirst: Bool = false) -> UInt8 {
        isUnfinished || paused > 0 ? PawlError.Code.unfinished.rawValue : ofFirst ? firstFailure : lastFailure
    }

    private mutating func report(_ kind: DownloadEvent.Kind, _ entry: inout Entry) -> Report.Kind? {
        switch kind {
        case .state(let state):
            defer { entry.state = state }
            return entry.state == state ? nil : report(state)
        case .started(let name, let total, let resumedAt):
            entry.name = name
            entry.isRetrying = false
            return .started(total: total, resumedAt: resumedAt)
        case .notice(let text): return .notice(text.description)
        case .retry(let error, _) where error.cause?.lacksDescriptors == true:
            entry.isRetrying = true
            guard !hasReportedScarcity else { return nil }
            hasReportedScarcity = true
            return .notice(
                "too many open files: some downloads wait until others have ended; "
                    + "raise the limit with 'ulimit -n', or run fewer at once with --jobs")
        case .retry(let error, let delay):
            entry.isRetrying = true
            return .retry(error, delay: delay.seconds)
        case .finished(let file):
            // An existing finished file has no start event.
            entry.name = entry.name ?? file.path.pathParts().last.map(String.init)
            finished += 1
            finishedBytes = finishedBytes.addingClamped(file.length)
            receivedBytes = receivedBytes.addingClamped(file.received)
            return .finished(file)
        case .failed(let error):
            failed += 1
            lastFailure = error.code.rawValue
            return .failed(error)
        // Only a manager emits these.
        case .added, .changed, .queueChanged, .missed: return nil
        }
    }

    private mutating func report(_ state: DownloadState) -> Report.Kind? {
        switch state {
        case .waitingForNetwork: return .waitingForNetwork
        case .waitingForDisk: return .waitingForDisk
        case .verifying: return .verifying
        case .paused:
            paused += 1
            return .paused
        case .waiting, .probing, .transferring, .publishing, .preempted, .finished, .failed, .removed: return nil
        }
    }

    /// Whether a state is reported; the other states follow from events of their own.
    private func isTold(_ state: DownloadState) -> Bool {
        switch state {
        case .waitingForNetwork, .waitingForDisk, .verifying, .paused: true
        case .waiting, .probing, .transferring, .publishing, .preempted, .finished, .failed, .removed: false
        }
    }

    /// Whether a download is no longer active after such an event.
    package static func isEnd(_ kind: DownloadEvent.Kind) -> Bool {
        switch kind {
        case .finished, .failed, .state(.paused): true
        case .state, .started, .notice, .retry, .added, .changed, .queueChanged, .missed: false
        }
    }
}
