import CHTTP2

@testable import PawlBase
@testable import PawlHTTP

/// A server's session of nghttp2 in memory.
@safe final class HTTP2Peer {
    struct Field: Equatable {
        var name: String
        var value: String
        var isSecret: Bool
    }

    private(set) var requests: [Int32: [Field]] = [:]
    private(set) var resets: [Int32: UInt32] = [:]
    /// How much of a body was sent.
    private(set) var sent: [Int32: Int] = [:]
    private var left: [Int32: Int] = [:]
    private var session: OpaquePointer?

    init(mostStreams: UInt32? = nil) {
        var callbacks: OpaquePointer?
        unsafe nghttp2_session_callbacks_new(&callbacks)
        unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            (_, frame, name, nameLength, value, valueLength, flags, user) in
            guard let frame = unsafe frame, let user = unsafe user else { return 0 }
            let peer = unsafe Unmanaged<HTTP2Peer>.fromOpaque(user).takeUnretainedValue()
            let text = { (bytes: UnsafePointer<UInt8>?, count: Int) in
                unsafe String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
            }
            let field = unsafe Field(
                name: text(name, nameLength), value: text(value, valueLength),
                isSecret: UInt32(flags) & NGHTTP2_NV_FLAG_NO_INDEX.rawValue != 0)
            unsafe peer.requests[frame.pointee.hd.stream_id, default: []].append(field)
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { (_, frame, user) in
            guard let frame = unsafe frame, let user = unsafe user else { return 0 }
            let peer = unsafe Unmanaged<HTTP2Peer>.fromOpaque(user).takeUnretainedValue()
            if unsafe UInt32(frame.pointee.hd.type) == NGHTTP2_RST_STREAM.rawValue {
                unsafe peer.resets[frame.pointee.hd.stream_id] = frame.pointee.rst_stream.error_code
            }
            return 0
        }
        unsafe nghttp2_session_server_new(&session, callbacks, Unmanaged.passUnretained(self).toOpaque())
        unsafe nghttp2_session_callbacks_del(callbacks)
        var settings: [nghttp2_settings_entry] = []
        if let mostStreams {
            settings.append(
                nghttp2_settings_entry(
                    settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: mostStreams))
        }
        unsafe nghttp2_submit_settings(session, 0, settings, settings.count)
    }

    deinit { unsafe nghttp2_session_del(session) }

    /// Responds with a body of so many bytes, each the number of its stream.
    func respond(_ stream: Int32, _ fields: [(String, String)], body: Int? = nil) {
        unsafe withFields(fields) { list in
            guard let body else {
                unsafe nghttp2_submit_response(session, stream, list.baseAddress, list.count, nil)
                return
            }
            left[stream] = body
            var provider = unsafe nghttp2_data_provider()
            unsafe provider.source.ptr = unsafe Unmanaged.passUnretained(self).toOpaque()
            unsafe provider.read_callback = { (_, stream, bytes, size, flags, source, _) in
                guard let user = unsafe source?.pointee.ptr, let flags = unsafe flags else { return 0 }
                let peer = unsafe Unmanaged<HTTP2Peer>.fromOpaque(user).takeUnretainedValue()
                let left = peer.left[stream] ?? 0
                let count = min(left, size)
                unsafe bytes?.update(repeating: UInt8(truncatingIfNeeded: stream), count: count)
                peer.left[stream] = left - count
                peer.sent[stream, default: 0] += count
                if left == count { unsafe flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
                return count
            }
            unsafe nghttp2_submit_response(session, stream, list.baseAddress, list.count, &provider)
        }
    }

    func interim(_ stream: Int32, _ status: String) {
        unsafe withFields([(":status", status)]) { list in
            unsafe nghttp2_submit_headers(session, 0, stream, nil, list.baseAddress, list.count, nil)
        }
    }

    func reset(_ stream: Int32, _ code: UInt32) { unsafe nghttp2_submit_rst_stream(session, 0, stream, code) }
    func goAway(last: Int32, _ code: UInt32) { unsafe nghttp2_submit_goaway(session, 0, last, code, nil, 0) }
    /// How much of the connection's window is left.
    var connectionCredit: Int32 { unsafe nghttp2_session_get_remote_window_size(session) }

    private func withFields(_ fields: [(String, String)], _ body: (UnsafeMutableBufferPointer<nghttp2_nv>) -> Void) {
        let list = UnsafeMutableBufferPointer<nghttp2_nv>.allocate(capacity: fields.count)
        var texts: [UnsafeMutableBufferPointer<UInt8>] = unsafe []
        for (index, field) in fields.enumerated() {
            let (name, value) = unsafe (Self.copy(field.0), Self.copy(field.1))
            unsafe texts += [name, value]
            unsafe list.initializeElement(
                at: index,
                to: nghttp2_nv(
                    name: name.baseAddress, value: value.baseAddress, namelen: name.count, valuelen: value.count,
                    flags: 0))
        }
        unsafe body(list)
        for index in unsafe texts.indices { unsafe texts[index].deallocate() }
        unsafe list.deallocate()
    }

    private static func copy(_ text: String) -> UnsafeMutableBufferPointer<UInt8> {
        let bytes = Array(text.utf8)
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(1, bytes.count))
        _ = unsafe copy.initialize(from: bytes)
        return unsafe UnsafeMutableBufferPointer(rebasing: copy[..<bytes.count])
    }

    func receive(_ bytes: [UInt8]) -> Bool { unsafe nghttp2_session_mem_recv(session, bytes, bytes.count) >= 0 }

    func output() -> [UInt8] {
        var all: [UInt8] = []
        while true {
            var bytes: UnsafePointer<UInt8>?
            let count = unsafe nghttp2_session_mem_send(session, &bytes)
            guard count > 0 else { return all }
            unsafe all.append(contentsOf: UnsafeBufferPointer(start: bytes, count: count))
        }
    }
}

/// What a client has learnt of a connection, with texts and content.
struct HTTP2Transcript: Equatable {
    var events: [HTTP2Event] = []
    var heads: [String] = []
    var bodies: [Int32: [UInt8]] = [:]
    var isBroken = false
    /// The largest memory of the codec meanwhile, without what pieces decide.
    var size = 0

    /// Reads bytes in pieces; `took` for each content.
    mutating func read(
        _ codec: HTTP2Codec, _ bytes: [UInt8], piece: Int = .max, took: (HTTP2StreamID, Int) -> Void = { _, _ in }
    ) {
        var rest = bytes[...]
        while !rest.isEmpty, !isBroken {
            var front = Array(rest.prefix(piece))
            rest = rest.dropFirst(front.count)
            repeat {
                let used = unsafe front.withUnsafeMutableBytes { unsafe codec.receive($0) }
                isBroken = used == nil
                take(codec, front, took)
                front.removeFirst(used ?? front.count)
            } while !front.isEmpty || codec.isPaused
        }
    }

    private mutating func take(_ codec: HTTP2Codec, _ bytes: [UInt8], _ took: (HTTP2StreamID, Int) -> Void) {
        size = max(size, codec.size)
        for index in 0..<codec.eventCount {
            let event = codec.event(index)
            switch event {
            case .data(let stream, let range):
                bodies[stream.rawValue, default: []] += bytes[range]
                took(stream, range.count)
            case .head:
                heads.append(String(decoding: codec.text(ofHead: index), as: UTF8.self))
                events.append(event)
            case .frame, .trailer, .ended, .closed, .settings, .goAway, .pong, .broken: events.append(event)
            }
        }
        codec.forgetEvents()
    }
}
