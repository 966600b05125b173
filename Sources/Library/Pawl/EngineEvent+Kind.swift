import PawlBase
import PawlCore
import PawlEngine
import PawlJournal
import PawlQueue
import PawlSystem

// The kernel's enum is a part of the library.

extension EngineEvent {
    var kind: DownloadEvent.Kind {
        switch update {
        case .phase(let phase): .state(phase)
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
