import CCurl
package import PawlBase
import Synchronization

/// Requests with small bodies, on threads that may block; connections are kept.
package final class CurlClient: Sendable {
    /// A request and its body.
    package struct Request: Sendable {
        package var method: String
        package var address: WebAddress
        /// Header lines `Name: value`.
        package var lines: [String]
        package var body: [UInt8]
        /// The most bytes of the body of a successful response; those of an error document that are more than 64 KiB are left out.
        package var limit: Int

        package init(
            _ method: String, _ address: WebAddress, lines: [String], body: [UInt8] = [], limit: Int = 16 << 20
        ) {
            self.method = method
            self.address = address
            self.lines = lines
            self.body = body
            self.limit = limit
        }
    }

    private struct Idle: @unchecked Sendable {  // Used by one thread at a time, after it left the list.
        let handle: EasyHandle
    }

    private let settings: TransferSettings
    private let idle = Mutex<[Idle]>([])
    /// The longest time without data.
    private let patience: Int

    /// `patience` in seconds.
    package init(_ settings: TransferSettings, patience: Double) {
        self.settings = settings
        self.patience = max(1, Int(patience.rounded(.up)))
    }

    /// The response, whatever its status; redirects are not followed.
    ///
    /// `isAbandoned`: called at least each second; a request that is abandoned throws.
    package func perform(
        _ request: Request, abandonedIf isAbandoned: @escaping () -> Bool
    ) throws(TransferFault) -> (head: ResponseHead, body: [UInt8]) {
        let kept = idle.withLock { $0.popLast() }
        let handle = if let kept { kept.handle } else { try EasyHandle() }
        let like = TransferRequest(address: request.address, connection: .separate, settings: settings)
        handle.reset()
        handle.isAbandoned = isAbandoned
        defer { handle.isAbandoned = nil }
        let options = try ConnectionSettings(for: like)
        options.apply(to: handle)
        let response = Response(limit: request.limit)
        let context = unsafe Unmanaged.passUnretained(response).toOpaque()
        handle.set(CURLOPT_URL, request.address.text)
        handle.set(CURLOPT_HTTP_TRANSFER_DECODING, 1)
        handle.set(CURLOPT_HTTPHEADER, CurlList(["Expect:", "Content-Type:"] + request.lines))
        handle.set(CURLOPT_LOW_SPEED_LIMIT, 1)
        handle.set(CURLOPT_LOW_SPEED_TIME, patience)
        handle.set(CURLOPT_UPLOAD_BUFFERSIZE, 512 << 10)
        unsafe handle.set(CURLOPT_WRITEFUNCTION, receiver: takeBody)
        unsafe handle.set(CURLOPT_HEADERFUNCTION, receiver: takeHeader)
        unsafe handle.set(CURLOPT_WRITEDATA, pointer: context)
        unsafe handle.set(CURLOPT_HEADERDATA, pointer: context)
        switch request.method {
        case "GET": break
        case "HEAD": handle.set(CURLOPT_NOBODY, 1)
        default: handle.set(CURLOPT_CUSTOMREQUEST, request.method)
        }
        let code = unsafe request.body.withUnsafeBytes { body in
            if request.method == "PUT" || request.method == "POST" {
                handle.set(CURLOPT_POST, 1)
                handle.set(CURLOPT_POSTFIELDSIZE, body.count)
                // Not copied; an empty body is one, too.
                unsafe handle.set(
                    CURLOPT_POSTFIELDS,
                    pointer: UnsafeMutableRawPointer(mutating: body.baseAddress ?? UnsafeRawPointer(context)))
                handle.set(CURLOPT_CUSTOMREQUEST, request.method)
            }
            return unsafe handle.refusal ?? pawl_easy_perform(handle.raw)
        }
        withExtendedLifetime((response, options)) {}
        if response.isTooLong, response.isSuccess { throw TransferFault.tooLong }
        guard code == CURLE_OK || response.isTooLong else {
            throw handle.fault(code, of: like, isHTTP: true, hasHead: !response.head.isEmpty)
        }
        if code == CURLE_OK { idle.withLock { $0.append(Idle(handle: handle)) } }
        guard var head = ResponseHead(parsing: response.head) else { throw TransferFault.notHTTP }
        head.lines = response.head
        return (head, response.body)
    }
}

/// What is received of a response.
private final class Response {
    var head: [UInt8] = []
    var body: [UInt8] = []
    private let limit: Int
    var isTooLong = false

    /// Error documents are short, whatever was requested.
    private static let longestError = 64 << 10

    init(limit: Int) { self.limit = limit }

    /// Whether the status is one of success: of another one the status itself is the response.
    var isSuccess: Bool {
        head.firstIndex(of: UInt8(ascii: " ")).map { head[($0 + 1)...].first == UInt8(ascii: "2") } ?? true
    }

    /// Whether there was room for all of it.
    func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let room = max(0, (isSuccess ? limit : Self.longestError) - body.count)
        isTooLong = bytes.count > room
        unsafe body.append(contentsOf: bytes.prefix(room))
        return !isTooLong
    }
}

private let takeBody: curl_write_callback = { bytes, size, count, context in
    guard let context = unsafe context else { return 0 }
    let response = unsafe Unmanaged<Response>.fromOpaque(context).takeUnretainedValue()
    return unsafe response.append(UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
}

private let takeHeader: curl_write_callback = { bytes, size, count, context in
    guard let context = unsafe context else { return 0 }
    let response = unsafe Unmanaged<Response>.fromOpaque(context).takeUnretainedValue()
    let line = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
    // Only the last head counts: others are interim ones, or a proxy's.
    if unsafe line.starts(with: "HTTP/".utf8) { response.head = [] }
    guard response.head.count + count <= 256 << 10 else { return 0 }
    unsafe response.head.append(contentsOf: line)
    return count
}
