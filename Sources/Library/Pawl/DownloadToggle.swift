// The kernel's enum is a part of the library.
@_exported public import enum PawlBase.DownloadState

/// The next action of a download's button.
public enum DownloadToggle: String, Sendable, Hashable, CaseIterable {
    /// Nothing was received yet: ``Download/toggle()`` starts the download.
    case download
    /// The download runs or waits: ``Download/toggle()`` pauses it.
    case pause
    /// Some data was received: ``Download/toggle()`` resumes the download.
    case `continue`
    /// The download is complete: the button is disabled.
    case done

    /// Whether the button is enabled.
    public var isEnabled: Bool { self != .done }
}

extension DownloadSnapshot {
    /// The next action of this download's button.
    public var toggle: DownloadToggle {
        switch state {
        case .finished, .removed: .done
        case .probing, .transferring, .waitingForNetwork, .waitingForDisk, .verifying, .publishing, .preempted: .pause
        // A manager queued it; elsewhere it was never started.
        case .waiting: addedAt == nil ? .download : .pause
        case .paused, .failed: written > 0 ? .continue : .download
        }
    }
}

extension Download {
    /// Performs the action of ``DownloadSnapshot/toggle``.
    public func toggle() {
        switch snapshot.toggle {
        case .download, .continue: resume()
        case .pause: pause()
        case .done: break
        }
    }
}
