/// The state of a download.
#if hasAttribute(nonexhaustive)
@nonexhaustive(warn)
#endif
public enum DownloadState: String, Sendable, Hashable, CaseIterable {
    /// Not started, or waiting for a free slot.
    case waiting
    /// The first request was sent.
    case probing
    /// Data is being received, or a retry is pending.
    case transferring
    /// An attempt found no route, and the system reports no network.
    ///
    /// Resumes when it reports one; meanwhile further attempts are made, at most a minute apart.
    case waitingForNetwork
    /// In a manager: the disk has no room, is read-only or is not there; it runs again when that has changed.
    ///
    /// ``DownloadSnapshot/error`` says what is missing. It keeps no slot.
    case waitingForDisk
    /// The checksum is being computed.
    case verifying
    /// The file is being moved to its final name.
    case publishing
    /// Stopped by the user; everything is kept.
    case paused
    /// Stopped by the scheduler for another download; restarts automatically.
    case preempted
    /// The file is complete and has its final name.
    case finished
    /// Failed; reusable data is kept.
    case failed
    /// Removed, from its manager too; the body of a stream that was left.
    case removed

    /// Whether it has ended: `finished`, `failed` or `removed`.
    ///
    /// A manager runs such a download again only when it is resumed or added again.
    public var isFinal: Bool {
        switch self {
        case .finished, .failed, .removed: true
        case .waiting, .probing, .transferring, .waitingForNetwork, .waitingForDisk, .verifying, .publishing, .paused,
            .preempted:
            false
        }
    }
}

extension DownloadState {
    /// Not running.
    package var isAtRest: Bool {
        switch self {
        case .waiting, .waitingForDisk, .paused, .preempted, .finished, .failed, .removed: true
        case .probing, .transferring, .waitingForNetwork, .verifying, .publishing: false
        }
    }

    /// Whether it has connections, or may have.
    package var isActive: Bool {
        switch self {
        case .probing, .transferring: true
        case .waiting, .waitingForNetwork, .waitingForDisk, .verifying, .publishing, .paused, .preempted, .finished,
            .failed, .removed:
            false
        }
    }

    // MARK: the store

    /// The number that the queue stores, which never changes.
    ///
    /// Those that run are stored as waiting, so that a killed process leaves a download that resumes.
    package var stored: Int {
        switch self {
        case .waiting, .probing, .transferring, .waitingForNetwork, .waitingForDisk, .verifying, .publishing,
            .preempted:
            0
        case .paused: 1
        case .finished: 2
        case .failed: 3
        case .removed: 4
        }
    }

    /// The states of a queue between two runs of the program, by their numbers.
    package static let allStored: [DownloadState] = [.waiting, .paused, .finished, .failed, .removed]
}
