import Glibc
import PawlBase
import PawlGet
import PawlServer
import PawlSystem

/// Finds the service of a client, also when its socket is gone or when it was started in another session of the user.
struct ServiceFinder: Sendable {
    /// A service makes its socket again within a second, or listens at another.
    private static let attempts = 40
    private static let milliseconds: Int32 = 100

    private let client: ServiceClient

    init(_ client: ServiceClient) { self.client = client }

    /// A connection to the service; `nil` if none is running.
    ///
    /// Throws if it is running and cannot be reached.
    func connection(_ patience: ServicePatience = .usual) throws(Failure) -> ServiceConnection? {
        if let connection = try ServiceConnection.open(client.socket, patience) { return connection }
        guard let note = note() ?? noteWrittenAgain() else { return nil }
        return try connection(by: note, patience)
    }

    /// A running service writes its notes again within a second when their folders were removed, as they are with those of a
    /// session that has ended.
    private func noteWrittenAgain() -> ServiceNote? {
        guard Self.hasLostFolders else { return nil }
        for _ in 1...Self.attempts / 2 {
            _ = poll(nil, 0, Self.milliseconds)
            if let note = note() { return note }
        }
        return nil
    }

    /// Whether both the folder of the sockets, which the session has named, and that of the notes are not there.
    private static var hasLostFolders: Bool {
        func isMissing(_ path: String) -> Bool { unsafe access(path, F_OK) != 0 && errno == ENOENT }
        guard let runtime = Environment.runtime, let state = Environment.pawlState else { return false }
        return isMissing(runtime) && isMissing(state)
    }

    private func connection(
        by first: ServiceNote, _ patience: ServicePatience
    ) throws(Failure) -> ServiceConnection? {
        var note = first
        for attempt in 1...Self.attempts {
            for path in Set(note.sockets + [note.socket]) {
                do throws(Failure) {
                    if let connection = try ServiceConnection.open(path, patience) { return connection }
                } catch {
                    // The next one may be there.
                }
            }
            if attempt < Self.attempts { _ = poll(nil, 0, Self.milliseconds) }
            guard let now = self.note() else { return nil }
            note = now
        }
        throw Failure(
            .network, "cannot reach the Pawl service at", at: note.socket,
            because: "its socket is gone; it is running as process \(note.process.number), with the root \(note.root)",
            remedy: "'pawl stop' ends it")
    }

    /// The running service that belongs to the client's socket; `nil` if none is known.
    func note() -> ServiceNote? {
        let own = client.root.flatMap(ServiceNote.running(in:))
        let known = (own.map { [$0] } ?? []) + (Environment.pawlState.map(ServiceNote.running(knownIn:)) ?? [])
        if let exact = known.first(where: { $0.socket == client.socket }) { return exact }
        // The usual socket is another one in another session, such as without XDG_RUNTIME_DIR.
        guard client.isUsual else { return nil }
        if let own, own.isUsual { return own }
        let usual = known.filter(\.isUsual)
        return Set(usual.map(\.process)).count == 1 ? usual.first : nil
    }

    /// The words for a service with the client's root at another socket.
    var other: String? {
        guard let note = client.root.flatMap(ServiceNote.running(in:)) else { return nil }
        return "a service for \(note.root) is running as process \(note.process.number): use --socket \(note.socket)"
    }
}
