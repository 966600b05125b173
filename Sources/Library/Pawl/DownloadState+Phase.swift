import PawlBase
import PawlCore
import PawlEngine
import PawlJournal
import PawlQueue
import PawlSystem

extension DownloadState {
    /// Not running.
    var isAtRest: Bool {
        switch self {
        case .waiting, .waitingForDisk, .paused, .preempted, .finished, .failed, .removed: true
        case .probing, .transferring, .waitingForNetwork, .verifying, .publishing: false
        }
    }

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

    init(_ phase: Phase) {
        self =
            switch phase {
            case .waiting: .waiting
            case .probing: .probing
            case .transferring: .transferring
            case .waitingForNetwork: .waitingForNetwork
            case .verifying: .verifying
            case .publishing: .publishing
            case .paused: .paused
            case .preempted: .preempted
            case .finished: .finished
            case .failed: .failed
            case .removed: .removed
            }
    }
}

extension EngineEvent {
    var kind: DownloadEvent.Kind {
        switch update {
        case .phase(let phase): .state(DownloadState(phase))
        case .started(let total, let resumedAt): .started(name: name, total: total, resumedAt: resumedAt)
        case .notice(let message): .notice(DownloadNotice(message))
        case .retrying(let failure, let after): .retry(PawlError(failure), delay: after.seconds)
        case .finished(let length, let wasThere): .finished(file(length: length, wasThere: wasThere))
        case .failed(let failure): .failed(error(failure))
        }
    }

    /// The finished file of this event.
    func file(length: Int64, wasThere: Bool) -> DownloadedFile {
        DownloadedFile(
            path: path, length: length, received: received, duration: elapsed.seconds, wasThere: wasThere,
            response: response, content: content, verification: FileVerification(verification))
    }
}
