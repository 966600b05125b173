#if Features
import PawlBase
import PawlSystem

/// How a stream's thread ends before its file is complete.
enum StreamEnd: Error {
    case failed(Failure)
    /// The user pauses it, or its downloader ends.
    case stopped
    /// The response is no playlist: the URL is one of an ordinary file.
    case notStream
}

/// What a stream's thread waits for.
final class StreamInbox: Sendable {
    enum Message: Sendable {
        case document(Result<StreamRequests.Content, Failure>)
        /// The playlist of a programme that is being recorded.
        case playlist(Result<StreamRequests.Content, Failure>)
        case segment(Int, epoch: Int, Result<StreamRequests.Content, Failure>)
        case key(WebAddress, epoch: Int, Result<StreamRequests.Content, Failure>)
    }

    private struct State {
        /// With the number of the file that they are for.
        var messages: [(file: Int, message: Message)] = []
        /// The answer to the only request for a document.
        var document: Result<StreamRequests.Content, Failure>?
        var isStopped = false
    }

    private let state = Monitor(State())

    func post(_ message: Message, for file: Int = 0) {
        state.with { state in
            if case .document(let result) = message {
                state.document = result
            } else {
                state.messages.append((file, message))
            }
        }
    }

    func stop() { state.with { $0.isStopped = true } }
    var isStopped: Bool { state.read { $0.isStopped } }

    /// The messages that are there, at least one unless the deadline passes.
    func take(until deadline: Instant) throws(StreamEnd) -> [(file: Int, message: Message)] {
        let found = state.wait(until: deadline) { state -> [(file: Int, message: Message)]? in
            guard !state.messages.isEmpty || state.isStopped else { return nil }
            defer { state.messages = [] }
            return state.messages
        }
        if isStopped { throw .stopped }
        return found ?? []
    }

    func takeDocument() throws(StreamEnd) -> Result<StreamRequests.Content, Failure> {
        let found = state.wait(until: nil) { state -> Result<StreamRequests.Content, Failure>?? in
            if state.isStopped { return .some(nil) }
            guard let document = state.document else { return nil }
            state.document = nil
            return .some(document)
        }
        guard let found = found ?? nil else { throw .stopped }
        return found
    }
}
#endif
