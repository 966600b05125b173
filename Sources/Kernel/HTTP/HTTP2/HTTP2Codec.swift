import CHTTP2
package import PawlBase

/// What received bytes say.
///
/// Texts and content are taken before the next ones are read.
package enum HTTP2Event: Hashable {
    /// A frame without content; its kind.
    case frame(UInt8)
    case head(HTTP2StreamID, size: Int, ends: Bool)
    case trailer(HTTP2StreamID, size: Int)
    /// Where content is in the bytes that were given.
    case data(HTTP2StreamID, Range<Int>)
    case ended(HTTP2StreamID)
    case closed(HTTP2StreamID, HTTP2Code, byPeer: Bool)
    /// `nil`: the number of streams stays.
    case settings(streams: UInt32?)
    case goAway(last: HTTP2StreamID, HTTP2Code)
    case pong(UInt64)
    /// The peer has broken the protocol.
    case broken(HTTP2Code)
}

/// Frames and HPACK of one connection, by nghttp2: from bytes to events, and from orders to bytes.
///
/// It decides nothing, except what RFC 9113 leaves no choice in. Content that arrived is given back to the connection's window
/// at once; to that of its stream by `consume`.
@safe package final class HTTP2Codec {
    private let state: UnsafeMutablePointer<pawl_h2>
    private var fields: [pawl_h2_field] = []

    /// `nil` without memory.
    package init?() {
        unsafe state = .allocate(capacity: 1)
        unsafe state.initialize(to: pawl_h2())
        let window = UInt32(HTTP2Limits.streamWindow)
        guard unsafe pawl_h2_open(state, window, HTTP2Limits.connectionWindow) == 1 else { return nil }
    }

    deinit {
        unsafe pawl_h2_close(state)
        unsafe state.deallocate()
    }

    /// Reads bytes, in which content of one stream is moved together.
    ///
    /// Returns how many were used; `nil` when no more can be read. What is left, if anything, is given after the events
    /// were taken; so is nothing, as long as it is paused.
    package func receive(_ bytes: UnsafeMutableRawBufferPointer) -> Int? {
        let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let used = unsafe pawl_h2_receive(state, start, bytes.count)
        return used < 0 ? nil : used
    }

    /// Whether reading goes on after the events were taken, even without more bytes.
    package var isPaused: Bool { unsafe state.pointee.is_paused != 0 }
    /// Whether nothing can be read or sent any more.
    package var isBroken: Bool { unsafe state.pointee.is_broken != 0 }

    // MARK: events

    package var eventCount: Int { unsafe state.pointee.record_count }

    package func event(_ index: Int) -> HTTP2Event {
        precondition(index < eventCount)
        let record = unsafe state.pointee.records[index]
        let stream = HTTP2StreamID(rawValue: record.stream)
        let code = HTTP2Code(rawValue: record.code)
        switch Int(record.kind) {
        case PAWL_H2_FRAME: return .frame(UInt8(truncatingIfNeeded: code.rawValue))
        case PAWL_H2_HEAD: return .head(stream, size: Int(clamping: record.value), ends: record.flags != 0)
        case PAWL_H2_TRAILER: return .trailer(stream, size: Int(clamping: record.value))
        case PAWL_H2_DATA: return .data(stream, record.start..<(record.start + record.count))
        case PAWL_H2_END: return .ended(stream)
        case PAWL_H2_CLOSED: return .closed(stream, code, byPeer: record.flags != 0)
        case PAWL_H2_SETTINGS: return .settings(streams: record.flags != 0 ? record.code : nil)
        case PAWL_H2_GOAWAY: return .goAway(last: stream, code)
        case PAWL_H2_PONG: return .pong(record.value)
        case _: return .broken(code)
        }
    }

    /// The text of a head; cut when it is longer than a response's may be.
    package func text(ofHead index: Int) -> [UInt8] {
        precondition(index < eventCount)
        let record = unsafe state.pointee.records[index]
        guard let heads = unsafe state.pointee.heads else { return [] }
        return unsafe Array(UnsafeRawBufferPointer(start: heads + record.start, count: record.count))
    }

    package func forgetEvents() { unsafe pawl_h2_forget(state) }

    /// The memory for events and heads.
    package var size: Int {
        unsafe state.pointee.record_room * MemoryLayout<pawl_h2_record>.stride + state.pointee.head_room
    }

    // MARK: orders

    /// Appends what is to be sent, until there is nothing or `limit` bytes are waiting.
    ///
    /// Further events may follow from it.
    package func output(into bytes: inout [UInt8], limit: Int) {
        while bytes.count < limit {
            var count = 0
            guard let next = unsafe pawl_h2_output(state, &count) else { return }
            unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: next, count: count))
        }
    }

    /// Sends a request without a body on a connection that has room for it.
    ///
    /// `nil` when no number of a stream is left.
    package func send(_ request: HTTP2Request) -> HTTP2StreamID? {
        fields.removeAll(keepingCapacity: true)
        for field in request.fields {
            fields.append(
                pawl_h2_field(
                    name: UInt32(field.name.lowerBound), name_length: UInt32(field.name.count),
                    value: UInt32(field.value.lowerBound), value_length: UInt32(field.value.count),
                    is_secret: field.isSecret ? 1 : 0))
        }
        let stream = unsafe pawl_h2_request(state, request.text, fields, fields.count)
        return stream > 0 ? HTTP2StreamID(rawValue: stream) : nil
    }

    package func reset(_ stream: HTTP2StreamID, _ code: HTTP2Code) {
        note(unsafe nghttp2_submit_rst_stream(session, flags, stream.rawValue, code.rawValue))
    }

    /// Gives bytes back to the window of a stream.
    package func consume(_ stream: HTTP2StreamID, _ count: Int) {
        note(unsafe nghttp2_session_consume_stream(session, stream.rawValue, count))
    }

    package func grow(_ stream: HTTP2StreamID, to window: Int) {
        note(unsafe nghttp2_session_set_local_window_size(session, flags, stream.rawValue, Int32(clamping: window)))
    }

    package func ping(_ value: UInt64) { unsafe pawl_h2_ping(state, value) }

    /// No stream follows; those that are open go on.
    package func goAway(_ code: HTTP2Code = .none) {
        note(unsafe nghttp2_submit_goaway(session, flags, 0, code.rawValue, nil, 0))
    }

    private var session: OpaquePointer? { unsafe state.pointee.session }
    private var flags: UInt8 { UInt8(NGHTTP2_FLAG_NONE.rawValue) }
    /// Of a stream that is gone meanwhile nothing is wanted; what remains is a lack of memory.
    private func note(_ result: Int32) {
        if result == Int32(NGHTTP2_ERR_NOMEM.rawValue) { unsafe state.pointee.is_broken = 1 }
    }
}
