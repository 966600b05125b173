import CCurl
import PawlBase
import PawlHTTP

extension TransferTiming {
    /// Reads what libcurl measured of a connection that was begun at `start`.
    mutating func readConnection(of easy: EasyHandle, begun start: Instant, _ request: TransferRequest) {
        readEnds(of: easy, request)
        func moment(_ info: CURLINFO) -> Instant? {
            easy.offset(info).flatMap { $0 > 0 ? start + Interval(nanoseconds: $0 * 1000) : nil }
        }
        lookupStart = start
        lookupEnd = moment(CURLINFO_NAMELOOKUP_TIME_T) ?? start
        let connected = moment(CURLINFO_CONNECT_TIME_T)
        connectStart = lookupEnd
        secureEnd = moment(CURLINFO_APPCONNECT_TIME_T)
        secureStart = secureEnd == nil ? nil : connected
        connectEnd = secureEnd ?? connected
    }

    /// Notes when the host was looked up, where not libcurl did it.
    mutating func note(_ lookup: LookupTime?) {
        guard let lookup else { return }
        lookupStart = lookup.start
        lookupEnd = lookup.end
    }

    /// The connection's addresses and TLS state.
    mutating func readEnds(of easy: EasyHandle, _ request: TransferRequest) {
        remote = easy.text(CURLINFO_PRIMARY_IP).map { Endpoint(address: $0, port: easy.number(CURLINFO_PRIMARY_PORT)) }
        local = easy.text(CURLINFO_LOCAL_IP).map { Endpoint(address: $0, port: easy.number(CURLINFO_LOCAL_PORT)) }
        isProxied = Self.usesProxy(easy, request)
    }

    /// libcurl does not say it: a tunnel has a status, and another proxy was given for all hosts.
    private static func usesProxy(_ easy: EasyHandle, _ request: TransferRequest) -> Bool {
        if easy.number(CURLINFO_HTTP_CONNECTCODE) != 0 { return true }
        let values = request.settings.values
        guard values.noProxy == nil else { return false }
        return values.proxy.map { !$0.isEmpty }
            ?? (request.address.scheme == .http && EnvironmentProxy.isNamed(for: .http))
    }

    /// Reads what libcurl measured of a whole request, once its head is there.
    mutating func readRequest(of easy: EasyHandle, begun start: Instant, _ request: TransferRequest) {
        if easy.number(CURLINFO_NUM_CONNECTS) > 0 {
            readConnection(of: easy, begun: start, request)
        } else {
            readEnds(of: easy, request)
            isReused = true
        }
        func moment(_ info: CURLINFO) -> Instant? { easy.offset(info).map { start + Interval(nanoseconds: $0 * 1000) } }
        requestStart = moment(CURLINFO_PRETRANSFER_TIME_T)
        requestEnd = requestStart
        responseStart = moment(CURLINFO_STARTTRANSFER_TIME_T)
        sentHead = easy.number(CURLINFO_REQUEST_SIZE)
        receivedHead = easy.number(CURLINFO_HEADER_SIZE)
        networkProtocol = request.address.scheme.name
    }
}
