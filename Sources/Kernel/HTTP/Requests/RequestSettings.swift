package import PawlBase

/// What many requests have in common: the header fields that they send.
package final class RequestSettings {
    package struct Key: Hashable {
        package let settings: SettingsID
        package let scheme: WebAddress.Scheme
        package let carriesSecrets: Bool
        package let bypassesCaches: Bool
        package let connection: ConnectionUse

        package init(_ request: TransferRequest) {
            settings = request.settings.id
            scheme = request.address.scheme
            carriesSecrets = request.carriesSecrets
            bypassesCaches = request.bypassesCaches
            connection = request.connection
        }
    }

    package let key: Key
    private let settings: TransferSettings
    /// The header lines of the user and those that every request has.
    package let lines: [String]
    /// Between `Range` and the lines.
    private let front: [String]
    /// What follows Host and Range in nearly all requests, including the empty line.
    private lazy var tail = Self.text(front + lines.compactMap(Self.field))
    /// The user's own; an empty one is left out.
    private let host: String?
    /// Whether a proxy may be used.
    package private(set) lazy var mayUseProxy = values.usesProxy(for: key.scheme)

    package var values: TransferSettings.Values { settings.values }

    package init(for request: TransferRequest) throws(TransferFault) {
        key = Key(request)
        settings = request.settings
        let values = request.settings.values
        try RequestText.check(values)
        let all = HeaderLine.joiningCookies(
            try HeaderLine.lines(
                of: values, carriesSecrets: request.carriesSecrets, bypassesCaches: request.bypassesCaches))
        host = all.last { HeaderLine.name(of: $0) == "host" }.map { Self.field($0) ?? "" }
        lines = all.filter { HeaderLine.name(of: $0) != "host" }
        let named = Set(lines.map(HeaderLine.name))
        var front: [String] = []
        if !values.userAgent.isEmpty, !named.contains("user-agent") { front.append("User-Agent: \(values.userAgent)") }
        if !named.contains("accept") { front.append("Accept: */*") }
        let referer = HeaderLine.referer(of: values, to: key.scheme, whole: key.carriesSecrets)
        if let referer, !named.contains("referer") { front.append("Referer: \(referer)") }
        self.front = front
    }

    /// Appends the header section of a request; in absolute form for an HTTP proxy.
    func write(_ request: TransferRequest, isAbsolute: Bool, cookies: String?, to head: inout [UInt8]) {
        head.removeAll(keepingCapacity: true)
        let address = request.address
        head.append(contentsOf: request.method.utf8)
        head.append(UInt8(ascii: " "))
        let authority = Self.authority(of: address)
        if isAbsolute {
            head.append(contentsOf: "http://".utf8)
            head.append(contentsOf: authority.utf8)
        }
        Self.append(address.path, to: &head)
        if let query = address.query {
            head.append(UInt8(ascii: "?"))
            Self.append(query, to: &head)
        }
        head.append(contentsOf: " HTTP/1.1\r\n".utf8)
        var own = request.fields
        let ownHost = own.last { HeaderLine.name(of: $0) == "host" }.flatMap(Self.field) ?? host
        if let ownHost {
            if !ownHost.isEmpty { head.append(contentsOf: "\(ownHost)\r\n".utf8) }
        } else {
            head.append(contentsOf: "Host: ".utf8)
            head.append(contentsOf: authority.utf8)
            head.append(contentsOf: "\r\n".utf8)
        }
        if let authorization = request.proxyAuthorization {
            head.append(contentsOf: "Proxy-Authorization: \(authorization)\r\n".utf8)
        }
        if let authorization = request.authorization {
            // Of the settings' own field, which the server has refused, and a login of the program only one is sent.
            if request.ownLogin == nil {
                head.append(contentsOf: "Authorization: \(authorization)\r\n".utf8)
            } else {
                own.append("Authorization: \(authorization)")
            }
        }
        if let range = request.range.fieldValue { head.append(contentsOf: "Range: bytes=\(range)\r\n".utf8) }
        // A request that may have a body tells its length (RFC 9110 §8.6).
        if !request.body.isEmpty || request.method == "PUT" || request.method == "POST" {
            head.append(contentsOf: "Content-Length: \(request.body.count)\r\n".utf8)
        }
        let isUsual = own.isEmpty && cookies == nil && !isAbsolute
        head.append(contentsOf: isUsual ? tail : Self.text(fields(own, cookies: cookies, isAbsolute: isAbsolute)))
    }

    /// The fields after Host and Range, with those of one request alone, which replace others of the same name.
    private func fields(_ own: [String], cookies: String?, isAbsolute: Bool) -> [String] {
        let named = Set(own.map(HeaderLine.name))
        let isKept: (String) -> Bool = { !named.contains(HeaderLine.name(of: $0)) }
        // HTTP/1.0 proxies know it by this name only.
        var usual = front.filter(isKept) + (isAbsolute ? ["Proxy-Connection: Keep-Alive"] : [])
        let others = lines.filter(isKept) + own.filter { HeaderLine.name(of: $0) != "host" }
        guard let cookies else { return usual + others.compactMap(Self.field) }
        let given = others.filter(HeaderLine.isCookie).map(HeaderLine.value)
        usual.append("Cookie: " + ([cookies] + given).filter { !$0.isEmpty }.joined(separator: "; "))
        return usual + others.filter { !HeaderLine.isCookie($0) }.compactMap(Self.field)
    }

    /// All fields but Host and Range, to be shown; those for a proxy and cookies of responses are missing.
    var shownFields: [String] { front + lines.compactMap(Self.field) }

    private static func text(_ fields: [String]) -> [UInt8] {
        Array((fields.joined(separator: "\r\n") + (fields.isEmpty ? "\r\n" : "\r\n\r\n")).utf8)
    }

    /// The zone of an IPv6 address means nothing to servers.
    private static func authority(of address: WebAddress) -> String {
        let text = address.authority
        guard let zone = text.utf8.firstIndex(of: UInt8(ascii: "%")),
            let end = text.utf8.lastIndex(of: UInt8(ascii: "]"))
        else { return text }
        return String(text[..<zone] + text[end...])
    }

    /// What cannot stand in a request's first line is percent-encoded.
    private static func append(_ text: String, to head: inout [UInt8]) {
        guard text.utf8.has({ $0 <= 0x20 || $0 >= 0x7F }) else { return head.append(contentsOf: text.utf8) }
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in text.utf8 {
            if byte > 0x20, byte < 0x7F {
                head.append(byte)
            } else {
                head += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
    }

    /// A header line as it is sent; `nil` for one that leaves a field out.
    private static func field(_ line: String) -> String? {
        let blank: (UInt8) -> Bool = { $0 == 0x20 || ($0 >= 0x09 && $0 <= 0x0D) }
        if let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) {
            guard colon > line.startIndex, !line.utf8[colon...].dropFirst().allSatisfy(blank) else { return nil }
            return line
        }
        guard let semicolon = line.utf8.firstIndex(of: UInt8(ascii: ";")), semicolon > line.startIndex,
            line.utf8[semicolon...].dropFirst().isEmpty
        else { return nil }
        return String(line[..<semicolon]) + ":"
    }
}

/// The settings of recent requests.
package final class RequestSettingsCache {
    private static let limit = 64

    private var known: [RequestSettings.Key: RequestSettings] = [:]
    /// Nearly always the next one too.
    private var last: RequestSettings?

    package init() {}

    /// Throws when one of the request's settings cannot be sent.
    package func settings(for request: TransferRequest) throws(TransferFault) -> RequestSettings {
        let key = RequestSettings.Key(request)
        if let last, last.key == key { return last }
        if let found = known[key] {
            last = found
            return found
        }
        // Requests retain the settings they use, so removing them all is safe.
        if known.count >= Self.limit { known.removeAll(keepingCapacity: true) }
        let settings = try RequestSettings(for: request)
        known[key] = settings
        last = settings
        return settings
    }
}

/// The final check of the texts that become part of a request: those from a queue's database or a netrc file pass no
/// check of options.
package enum RequestText {
    package static func check(_ values: TransferSettings.Values) throws(TransferFault) {
        for (setting, text) in [
            (OptionID.userAgent, values.userAgent), (.referer, values.referer), (.proxy, values.proxy),
            (.noProxy, values.noProxy),
        ] {
            guard let text, !FieldText.isSafe(text) else { continue }
            throw TransferFault(
                .other,
                LocalizableMessage("fault-option-unsendable", "\(setting.title) cannot be sent: \(FieldText.message)"))
        }
        if let login = values.credentials { try check(login) }
    }

    static func check(_ login: Credentials) throws(TransferFault) {
        guard FieldText.isSafe(login.user), FieldText.isSafe(login.password) else {
            throw TransferFault(
                .other,
                LocalizableMessage(
                    "fault-login-unsendable", "the user name or the password cannot be sent: \(FieldText.message)"))
        }
    }
}
