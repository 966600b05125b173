import Glibc
import PawlSystem

/// The response to a request.
package struct WebResponse: Sendable {
    package enum Body: Sendable {
        case bytes([UInt8])
        /// A range of an open file.
        case file(WebFile)
        /// Pieces sent by ``WebServer/push(_:to:)``, until the connection ends.
        case stream
    }

    package var status: Int
    package var contentType: String?
    package var fields: [(name: String, value: String)] = []
    package var body: Body
    /// Whether the connection ends with this response.
    package var closes = false
    /// Its client has authenticated, or no secret is required.
    package var isForKnown = false
    /// How long it is delayed before it is sent.
    package var delay: Duration?

    var isStream: Bool { if case .stream = body { true } else { false } }

    /// The length of the body in bytes; `nil` for a stream.
    var length: Int64? {
        switch body {
        case .bytes(let bytes): Int64(bytes.count)
        case .file(let file): file.length
        case .stream: nil
        }
    }

    package init(_ status: Int, contentType: String? = nil, body: Body = .bytes([])) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }

    package init(_ status: Int, text: String) {
        self.init(status, contentType: "text/plain; charset=utf-8", body: .bytes(Array((text + "\n").utf8)))
    }
}

/// A range of an open file to be sent; closed with its last reference.
package final class WebFile: Sendable {
    private let descriptor: Int32
    package let offset: Int64
    package let length: Int64

    /// Takes ownership of the descriptor.
    package init(descriptor: Int32, offset: Int64, length: Int64) {
        self.descriptor = descriptor
        self.offset = offset
        self.length = length
    }

    deinit { close(descriptor) }

    /// Bytes from `position` of the range on; fewer if the file is too short or cannot be read.
    func read(_ count: Int, at position: Int64) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: count) { room, done in
            let room = UnsafeMutableRawBufferPointer(room)
            done = (try? unsafe BoundedRead.fill(room, from: descriptor, at: offset + position)) ?? 0
        }
    }
}
