import CWebSockets
import PawlCore

/// One client's connection: the request that arrives and what has still to be sent.
///
/// Belongs to the server's thread.
@safe
final class WebConnection {
    enum Stage {
        /// A request is arriving.
        case request
        /// The handler decides about a whole request.
        case waiting
        /// An answer waits to be sent or is being sent.
        case answer(WebResponse, sent: Int64, hasHead: Bool)
        case socket
        /// Everything was sent; what still comes is thrown away.
        case closing(isTold: Bool)
    }

    let id: ConnectionID
    let wsi: OpaquePointer
    let listener: ListenerKind
    var stage = Stage.request
    /// What arrives, and requests behind the one that is being answered.
    var reader: RequestReader
    /// Of a WebSocket.
    var frames: FrameReader
    var request: WebRequest?
    /// Of the request that is being answered.
    var isHead = false
    var keepsConnection = true
    /// Whether the clock of the request that arrives has been set.
    var isClocked = false
    /// Bytes of the request that is decided about, or of the answer.
    var inHand = 0
    /// What was last counted of ``weight``.
    var counted = 0
    /// Its client has shown the secret, or came by the socket file.
    var isKnown: Bool
    /// How many bytes of the body or message the handler has looked at, to know the client.
    var looked = 0
    var isReading = true
    /// Bytes that came after the last response.
    var discarded = 0
    /// Lengths of a WebSocket's messages that have not been answered.
    var messages: [Int] = []
    /// Messages of a WebSocket or pieces of a stream that wait to be sent.
    private(set) var backlog: [[UInt8]] = []
    private var front = 0
    private(set) var backlogBytes = 0
    /// It has to make room.
    var isLeaving = false
    /// It ends when everything is sent.
    var isEnding = false
    /// Whether the handler has to be told of the end.
    var isAnnounced = false

    init(id: ConnectionID, wsi: OpaquePointer, listener: ListenerKind, limits: WebLimits) {
        self.id = id
        unsafe self.wsi = wsi
        self.listener = listener
        reader = RequestReader(longestHead: limits.head)
        frames = FrameReader(longest: limits.body)
        isKnown = listener == .local
    }

    /// Something waits to be sent to it.
    var isSending: Bool {
        switch stage {
        case .answer(let response, _, _): response.delay == nil && !response.isStream
        case .request, .waiting: hasBacklog
        case .socket: hasBacklog || isEnding
        case .closing(let isTold): !isTold
        }
    }

    var isSocket: Bool {
        if case .socket = stage { true } else { false }
    }

    var isStream: Bool {
        if case .answer(let response, _, _) = stage { response.isStream } else { false }
    }

    /// Whether its bytes are wanted: one request at a time.
    func wantsBytes(_ limits: WebLimits) -> Bool {
        switch stage {
        case .request, .closing: true
        // So that its end is seen.
        case .answer(let response, _, _): response.isStream
        case .waiting: false
        case .socket: messages.count < limits.messages
        }
    }

    /// Bytes that are held for it, see ``WebLimits/memory``.
    var weight: Int {
        reader.count + frames.count + inHand + messages.reduce(0, +) + backlogBytes
    }

    var hasBacklog: Bool { front < backlog.count }

    func enqueue(_ bytes: [UInt8]) {
        backlog.append(bytes)
        backlogBytes += bytes.count
    }

    func dequeue() -> [UInt8]? {
        guard front < backlog.count else { return nil }
        let next = backlog[front]
        backlogBytes -= next.count
        front += 1
        if front == backlog.count {
            backlog.removeAll(keepingCapacity: true)
            front = 0
        }
        return next
    }
}
