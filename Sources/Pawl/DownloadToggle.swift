/// What one button for a download does next.
public enum DownloadToggle: String, Sendable, Hashable, CaseIterable {
    /// Nothing is there yet: ``Download/toggle()`` starts it.
    case download
    /// It runs or waits for its turn: ``Download/toggle()`` pauses it.
    case pause
    /// A part is there: ``Download/toggle()`` lets it go on.
    case `continue`
    /// Nothing is left to do: the button is disabled.
    case done

    /// The button's text: download, pause, continue, or done.
    public var label: String { rawValue }
    /// Whether the button does anything.
    public var isEnabled: Bool { self != .done }
}

extension DownloadSnapshot {
    /// What one button for this download does next.
    public var toggle: DownloadToggle {
        switch state {
        case .finished, .removed: .done
        case .probing, .transferring, .waitingForNetwork, .verifying, .publishing, .preempted: .pause
        // In a queue it is in the line; elsewhere nobody has started it.
        case .waiting: addedAt == nil ? .download : .pause
        case .paused, .failed: written > 0 ? .continue : .download
        }
    }
}

extension Download {
    /// Does what its button says: ``DownloadSnapshot/toggle``.
    public func toggle() {
        switch snapshot.toggle {
        case .download, .continue: resume()
        case .pause: pause()
        case .done: break
        }
    }
}
