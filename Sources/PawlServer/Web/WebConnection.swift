import CWebSockets

/// One client's connection: the request that arrives and what has still to be sent.
///
/// Belongs to the server's thread.
@safe
final class WebConnection {
    enum Stage {
        /// A request is arriving or is being decided about.
        case request
        /// An answer waits to be sent or is being sent.
        case answer(WebResponse, sent: Int64, hasHead: Bool)
        case socket
    }

    let id: ConnectionID
    let wsi: OpaquePointer
    let door: Door
    var stage = Stage.request
    var request: WebRequest?
    /// A WebSocket's message, or a body, as far as it has arrived.
    var arriving: [UInt8] = []
    /// Bytes of it that are held, see ``WebLimits/memory``.
    var held = 0
    /// Lengths of a WebSocket's messages that have not been answered.
    var letters: [Int] = []
    /// Messages of a WebSocket or pieces of a stream that wait to be sent.
    private(set) var backlog: [[UInt8]] = []
    private var front = 0
    private(set) var backlogBytes = 0
    /// It ends when everything is sent.
    var isEnding = false
    /// Whether the handler has to be told of the end.
    var isAnnounced = false

    init(id: ConnectionID, wsi: OpaquePointer, door: Door) {
        self.id = id
        unsafe self.wsi = wsi
        self.door = door
    }

    /// Something waits to be sent to it.
    var isSending: Bool {
        switch stage {
        case .answer(let response, _, _): response.delay == nil && !response.isStream
        case .request: hasBacklog
        case .socket: hasBacklog || isEnding
        }
    }

    var isSocket: Bool {
        if case .socket = stage { true } else { false }
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
