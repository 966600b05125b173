import CZlib
package import PawlBase

/// gzip's form of bytes in memory (RFC 1952), with zlib.
package enum Gzip {
    /// For texts of at most some megabytes.
    package static func compress(_ bytes: [UInt8]) -> [UInt8] {
        var stream = unsafe z_stream()
        return unsafe withUnsafeMutablePointer(to: &stream) { stream in
            guard unsafe pawl_gzip_begin(stream) == Z_OK else { preconditionFailure("out of memory for zlib") }
            defer { unsafe deflateEnd(stream) }
            var rest = bytes[...]
            let longest = unsafe Int(deflateBound(stream, UInt(bytes.count)))
            return unsafe stream.work(on: &rest, room: longest) { unsafe deflate($0, Z_FINISH) }.bytes
        }
    }

    /// What a whole file contains; `nil` if it is damaged or contains more than `limit` bytes.
    package static func decompress(_ bytes: [UInt8], limit: Int) -> [UInt8]? {
        var rest: [UInt8]? = bytes
        var content: [UInt8] = []
        var decoder = ContentDecoder(ZlibInflater(), limit: Int64(limit)) {
            defer { rest = nil }
            return rest
        } emit: {
            content += $0
        }
        guard (try? decoder.decode("gzip")) != nil else { return nil }
        return content
    }
}

/// zlib's decoder; the frames are `ContentDecoder`'s.
@safe package final class ZlibInflater: Inflater {
    // zlib keeps the address.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private static let piece = 64 << 10

    package init() {
        unsafe stream.initialize(to: z_stream())
        guard unsafe pawl_inflate_begin(stream) == Z_OK else { preconditionFailure("out of memory for zlib") }
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    package func begin() { unsafe inflateReset(stream) }

    package func decode(_ input: inout ArraySlice<UInt8>) -> (bytes: [UInt8], state: InflaterState) {
        let (bytes, code) = unsafe stream.work(on: &input, room: Self.piece) { unsafe inflate($0, Z_NO_FLUSH) }
        switch code {
        // Z_BUF_ERROR: nothing to do without more input.
        case Z_OK, Z_BUF_ERROR: return (bytes, .goesOn)
        case Z_STREAM_END: return (bytes, .ended)
        case Z_MEM_ERROR: preconditionFailure("out of memory for zlib")
        case _: return (bytes, .broken)
        }
    }
}

extension UnsafeMutablePointer<z_stream> {
    /// Calls zlib once, for up to `room` bytes of output; the input that it used is removed.
    fileprivate func work(
        on input: inout ArraySlice<UInt8>, room: Int, _ call: (Self) -> Int32
    ) -> (bytes: [UInt8], code: Int32) {
        var code = Z_OK
        let given = UInt32(clamping: input.count)
        let bytes = unsafe input.withUnsafeBytes { source in
            unsafe [UInt8](unsafeUninitializedCapacity: room) { place, count in
                unsafe pointee.next_in = source.bindMemory(to: UInt8.self).baseAddress
                unsafe pointee.avail_in = given
                unsafe pointee.next_out = place.baseAddress
                unsafe pointee.avail_out = UInt32(room)
                code = unsafe call(self)
                count = unsafe room - Int(pointee.avail_out)
            }
        }
        input = unsafe input.dropFirst(Int(given - pointee.avail_in))
        return (bytes, code)
    }
}
