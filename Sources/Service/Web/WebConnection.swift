import PawlBase
import PawlHTTP

/// One client's connection: the request being received and the data still to be sent.
///
/// Belongs to the server's thread.
final class WebConnection {
    enum Stage {
        /// A request is arriving.
        case request
        /// The handler is processing a complete request.
        case waiting
        /// A response is pending or being sent.
        case response(WebResponse, sent: Int64, hasHead: Bool)
        case socket
        /// Everything was sent; further input is discarded.
        case closing(isTold: Bool)
    }

    let id: ConnectionID
    let socket: AcceptedSocket
    let listener: ListenerKind
    var stage = Stage.request
    /// Input, including requests after the current one.
    var reader: RequestReader
    /// For a WebSocket.
    var frames: FrameReader
    var request: WebRequest?
    /// For the current request.
    var isHead = false
    var keepsConnection = true
    /// Whether the timeout of the request being received has been set.
    var isClocked = false
    /// Bytes of the request being processed, or of the response.
    var inHand = 0
    /// The last counted value of ``weight``.
    var counted = 0
    /// Its client has authenticated, or uses the Unix socket.
    var isKnown: Bool
    /// How many bytes of the body or message the handler has searched for the secret.
    var looked = 0
    /// Whether it is read again only at its next turn, see ``WebLoop/awaitTurn(_:)``.
    var waitsForTurn = false
    /// Bytes that came after the last response.
    var discarded = 0
    /// Lengths of a WebSocket's messages that have no response yet.
    var messages: [Int] = []
    /// Messages of a WebSocket or pieces of a stream that wait to be sent.
    private var backlog = FIFO<[UInt8]>()
    private(set) var backlogBytes = 0
    /// Whether it is to be written to once what was sent before is gone.
    var isWoken = false
    var isScheduled = false
    /// It is closed without sending anything more.
    var isKilled = false
    /// It ends when everything is sent.
    var isEnding = false
    /// Whether the handler must be notified of the end.
    var isAnnounced = false

    init(id: ConnectionID, socket: AcceptedSocket, listener: ListenerKind, limits: WebLimits) {
        self.id = id
        self.socket = socket
        self.listener = listener
        reader = RequestReader(longestHead: limits.head)
        frames = FrameReader(longest: limits.body(over: listener))
        isKnown = listener == .local
    }

    /// Data is waiting to be sent.
    var isSending: Bool {
        guard socket.isFlushed else { return true }
        return switch stage {
        case .response(let response, _, _): response.delay == nil && !response.isStream
        case .request, .waiting: hasBacklog
        case .socket: hasBacklog || isEnding
        case .closing(let isTold): !isTold
        }
    }

    var isSocket: Bool { if case .socket = stage { true } else { false } }

    var isStream: Bool { if case .response(let response, _, _) = stage { response.isStream } else { false } }

    /// Whether to read from it: one request at a time.
    func wantsBytes(_ limits: WebLimits) -> Bool {
        switch stage {
        case .request, .closing: true
        // To detect that the client has closed it.
        case .response(let response, _, _): response.isStream
        case .waiting: false
        case .socket: messages.count < limits.messages
        }
    }

    /// Whether there is something to send, and room for it.
    var mayWrite: Bool { isWoken && socket.isFlushed }

    /// Only what it expects, and not while the client does not read what was sent.
    func mayRead(_ limits: WebLimits) -> Bool {
        socket.isFlushed && !waitsForTurn && wantsBytes(limits) && socket.mayRead
    }

    /// Bytes held for it, see ``WebLimits/memory``.
    var weight: Int { reader.count + frames.count + inHand + messages.reduce(0, +) + backlogBytes + socket.unsent }

    var hasBacklog: Bool { backlog.first != nil }

    func enqueue(_ bytes: [UInt8]) {
        backlog.append(bytes)
        backlogBytes += bytes.count
    }

    func dequeue() -> [UInt8]? {
        let next = backlog.popFirst()
        backlogBytes -= next?.count ?? 0
        return next
    }
}
