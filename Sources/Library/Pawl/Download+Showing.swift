import Synchronization

extension Download {
    /// Creates a handle that shows `snapshot`, for previews and tests of what shows a download: nothing is transferred.
    ///
    /// ``resume()``, ``pause()`` and ``remove(keepingFile:)`` change the state that it shows. ``file`` is `result`; where that is
    /// `nil` it is waited for, until the download is removed. `StubDownload` of the product `PawlTesting` goes on from there.
    ///
    /// ```swift
    /// var snapshot = DownloadSnapshot(id: Download.ID(rawValue: 1), source: "https://example.org/film.mp4")
    /// (snapshot.state, snapshot.written, snapshot.total) = (.transferring, 40, 100)
    /// let download = Download(showing: snapshot)
    /// ```
    public convenience init(showing snapshot: DownloadSnapshot, result: Result<DownloadedFile, PawlError>? = nil) {
        let owner = ShownOwner()
        self.init(snapshot, owner: owner)
        owner.find.withLock { $0 = { [weak self] in self } }
        if let result { end(DownloadEvent.Kind(result)) }
    }

    /// Goes on to another snapshot.
    package func show(_ snapshot: DownloadSnapshot) { show(snapshot, box: nil, leaving: nil) }

    /// Shows how it ended.
    package func end(_ result: Result<DownloadedFile, PawlError>) {
        var snapshot = snapshot
        switch result {
        case .success(let file):
            (snapshot.state, snapshot.written, snapshot.total) = (.finished, file.length, file.length)
        case .failure(let error): (snapshot.state, snapshot.error) = (.failed, error)
        }
        show(snapshot)
        end(DownloadEvent.Kind(result))
    }
}

/// Carries out the requests of a handle on what it shows.
private final class ShownOwner: DownloadOwner {
    let find = Mutex<@Sendable () -> Download?> { nil }

    private func show(_ state: DownloadState) {
        guard let download = find.withLock({ $0 })() else { return }
        var snapshot = download.snapshot
        guard !snapshot.state.isFinal || snapshot.state == .failed else { return }
        snapshot.state = state
        download.show(snapshot)
    }

    func resume(_ id: Download.ID) { show(.transferring) }
    func pause(_ id: Download.ID) { show(.paused) }
    func remove(_ download: Download, keepingFile: Bool) { _ = download.remove(because: "it was removed") }
    func letGo(_ id: Download.ID) {}
}
