package import PawlBase

/// Parses the requests of one HTTP/1.1 connection incrementally, one request at a time (RFC 9112).
///
/// Bytes behind a request stay buffered until the next one is read. A value without effects, so that the code
/// that runs on sockets also runs under a fuzzer.
package struct RequestReader: Hashable, Sendable {
    package enum Step: Hashable, Sendable {
        /// More bytes are needed.
        case incomplete
        /// The header section is complete; returned once for each request.
        case head(RequestHead)
        /// The request is complete.
        case body([UInt8])
        /// The rest of the connection cannot be parsed.
        case broken(RequestFault)
    }

    private enum State: Hashable, Sendable {
        /// The number of bytes searched without finding the end of a header section.
        case head(looked: Int)
        case body(length: Int)
        case broken(RequestFault)
    }

    private let longestHead: Int
    /// The received bytes; requests before `start` are finished.
    private var bytes: [UInt8] = []
    private var start = 0
    private var state = State.head(looked: 0)
    /// Whether an empty line before the next request has been ignored.
    private var hasEmptyLine = false

    package init(longestHead: Int) { self.longestHead = longestHead }

    /// Bytes that were received and not returned.
    package var count: Int { bytes.count - start }

    /// The part of a body received so far.
    package var arriving: ArraySlice<UInt8> { bytes[start...] }

    /// Moves the rest to the front once for all bytes received together.
    package mutating func take(_ more: UnsafeRawBufferPointer) {
        bytes.removeSubrange(..<start)
        start = 0
        unsafe bytes.append(contentsOf: more)
    }

    /// All remaining bytes, for a parser of another protocol.
    package mutating func takeRest() -> [UInt8] {
        defer { (bytes, start) = ([], 0) }
        return start == 0 ? bytes : Array(bytes[start...])
    }

    package mutating func next() -> Step {
        switch state {
        case .broken(let fault): return .broken(fault)
        case .head(let looked): return readHead(from: looked)
        case .body(let length):
            guard count >= length else { return .incomplete }
            state = .head(looked: 0)
            hasEmptyLine = false
            if count == length { return .body(takeRest()) }
            defer { start += length }
            return .body(Array(bytes[start..<start + length]))
        }
    }

    private mutating func readHead(from looked: Int) -> Step {
        // One empty line before a request is ignored (RFC 9112 §2.2).
        if !hasEmptyLine, arriving.starts(with: [.carriageReturn, .lineFeed]) {
            start += 2
            hasEmptyLine = true
        }
        guard let first = arriving.first, hasEmptyLine || !arriving.elementsEqual([.carriageReturn]) else {
            return .incomplete
        }
        guard first.isTokenCharacter else { return fail(.malformed("this is not HTTP/1.1")) }
        for index in start + looked..<start + min(count, longestHead) where bytes[index] == .lineFeed {
            guard index > start, bytes[index - 1] == .carriageReturn else {
                return fail(.malformed("a line of the header section ends without a carriage return"))
            }
            if index >= start + 3, bytes[index - 2] == .lineFeed { return readHead(upTo: index + 1) }
        }
        guard count < longestHead else {
            return fail(RequestFault(431, "the header section is longer than \(longestHead) bytes"))
        }
        state = .head(looked: count)
        return .incomplete
    }

    private mutating func readHead(upTo end: Int) -> Step {
        do throws(RequestFault) {
            let head = try RequestHead(parsing: bytes[start..<end])
            start = end
            state = .body(length: head.bodyLength)
            return .head(head)
        } catch { return fail(error) }
    }

    private mutating func fail(_ fault: RequestFault) -> Step {
        state = .broken(fault)
        (bytes, start) = ([], 0)
        return .broken(fault)
    }
}
