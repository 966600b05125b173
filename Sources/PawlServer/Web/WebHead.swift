import CWebSockets

/// Reads a request's head out of libwebsockets' tokens.
@safe
struct WebHead {
    let wsi: OpaquePointer

    func request(_ connection: ConnectionID, door: Door) -> WebRequest {
        let (method, path) = methodAndPath
        var request = WebRequest(connection: connection, door: door, method: method, path: path)
        request.query = query
        for field in WebRequest.Field.allCases { request.fields[field] = value(field.token) }
        return request
    }

    /// `nil` when the head does not say one or not a number.
    var contentLength: Int64? { value(WSI_TOKEN_HTTP_CONTENT_LENGTH).flatMap { Int64($0) } }

    var isChunked: Bool { value(WSI_TOKEN_HTTP_TRANSFER_ENCODING) != nil }

    private var methodAndPath: (WebRequest.Method, String) {
        if let path = value(WSI_TOKEN_GET_URI) { return (.get, path) }
        if let path = value(WSI_TOKEN_POST_URI) { return (.post, path) }
        if let path = value(WSI_TOKEN_HEAD_URI) { return (.head, path) }
        if let path = value(WSI_TOKEN_OPTIONS_URI) { return (.options, path) }
        return (.other, "/")
    }

    private var query: [(name: String, value: String)] {
        var parts: [(name: String, value: String)] = []
        var index: Int32 = 0
        while true {
            let length = unsafe lws_hdr_fragment_length(wsi, WSI_TOKEN_HTTP_URI_ARGS, index)
            guard length > 0 else { return parts }
            let text = unsafe copy(Int(length)) { buffer, size in
                unsafe lws_hdr_copy_fragment(wsi, buffer, size, WSI_TOKEN_HTTP_URI_ARGS, index)
            }
            if let text {
                let halves = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                parts.append((String(halves[0]), halves.count > 1 ? String(halves[1]) : ""))
            }
            index += 1
        }
    }

    func value(_ token: lws_token_indexes) -> String? {
        let length = unsafe lws_hdr_total_length(wsi, token)
        guard length > 0 else { return nil }
        return unsafe copy(Int(length)) { buffer, size in unsafe lws_hdr_copy(wsi, buffer, size, token) }
    }

    /// What `fill` puts into a buffer with room for `length` characters and an end mark.
    private func copy(
        _ length: Int,
        fill: (UnsafeMutablePointer<CChar>, Int32) -> Int32
    ) -> String? {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: length + 1) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            let count = unsafe fill(start, Int32(length + 1))
            guard count >= 0 else { return nil }
            let bytes = unsafe UnsafeRawBufferPointer(start: start, count: Int(count))
            return unsafe String(decoding: bytes, as: UTF8.self)
        }
    }
}

extension WebRequest.Field {
    fileprivate var token: lws_token_indexes {
        switch self {
        case .host: WSI_TOKEN_HOST
        case .origin: WSI_TOKEN_ORIGIN
        case .authorization: WSI_TOKEN_HTTP_AUTHORIZATION
        case .cookie: WSI_TOKEN_HTTP_COOKIE
        case .range: WSI_TOKEN_HTTP_RANGE
        case .ifNoneMatch: WSI_TOKEN_HTTP_IF_NONE_MATCH
        case .ifRange: WSI_TOKEN_HTTP_IF_RANGE
        case .contentType: WSI_TOKEN_HTTP_CONTENT_TYPE
        case .acceptEncoding: WSI_TOKEN_HTTP_ACCEPT_ENCODING
        case .userAgent: WSI_TOKEN_HTTP_USER_AGENT
        case .requestedHeaders: WSI_TOKEN_HTTP_AC_REQUEST_HEADERS
        }
    }
}
