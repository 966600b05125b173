import PawlBase

// The header section that the HTTP/1.1 client sends.
extension ConnectionSettings {
    /// Whether this request can be sent without libcurl.
    func takes(_ address: WebAddress) -> Bool {
        tail != nil && Self.isClean(address.host) && Self.isClean(address.path)
            && address.query.map(Self.isClean) ?? true
            // The zone of an IPv6 address is not sent to servers.
            && !address.host.utf8.has { $0 == UInt8(ascii: "%") }
    }

    /// Appends the header section of a request.
    func write(_ request: TransferRequest, to head: inout [UInt8]) {
        head.removeAll(keepingCapacity: true)
        let address = request.address
        head.append(contentsOf: "GET ".utf8)
        head.append(contentsOf: address.path.utf8)
        if let query = address.query {
            head.append(UInt8(ascii: "?"))
            head.append(contentsOf: query.utf8)
        }
        head.append(contentsOf: " HTTP/1.1\r\nHost: ".utf8)
        head.append(contentsOf: address.authority.utf8)
        head.append(contentsOf: "\r\n".utf8)
        var own = request.fields
        if let authorization = request.authorization {
            // Of the settings' own field, which the server has refused, and a login of the program only one is sent.
            if request.ownLogin == nil {
                head.append(contentsOf: "Authorization: \(authorization)\r\n".utf8)
            } else {
                own.append("Authorization: \(authorization)")
            }
        }
        if let range = request.range.fieldValue { head.append(contentsOf: "Range: bytes=\(range)\r\n".utf8) }
        head.append(contentsOf: own.isEmpty ? tail ?? [] : tail(with: own))
    }

    /// The tail with lines of this request alone, which replace those of the same name.
    private func tail(with fields: [String]) -> [UInt8] {
        let named = Set(fields.map(HeaderLines.name))
        let usual = String(decoding: tail ?? [], as: UTF8.self).split(separator: "\r\n").map(String.init)
        let kept = usual.filter { !named.contains(HeaderLines.name(of: $0)) }
        return Array(((kept + fields).joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    /// The fields after Host and Range, to be shown; those that libcurl adds for a proxy or cookies are missing.
    var shownFields: [String] {
        if let tail { return String(decoding: tail, as: UTF8.self).split(separator: "\r\n").map(String.init) }
        let agent = values.userAgent.isEmpty ? [] : ["User-Agent: \(values.userAgent)"]
        return agent + ["Accept: */*"] + texts
    }

    private static func isClean(_ text: String) -> Bool { !text.utf8.has { $0 <= 0x20 || $0 >= 0x7F } }

    /// The fields that libcurl would send for these settings, in the same order.
    func makeTail() -> [UInt8]? {
        // A proxy receives requests over plain HTTP and may change them; TLS goes through a tunnel, which is a bare
        // socket unless the proxy itself is reached over TLS.
        let hasProxy =
            key.scheme == .http
            ? values.proxy.map { !$0.isEmpty } ?? EnvironmentProxy.isNamed(for: .http)
            : values.proxy.map(ProxyURL.isSecure) ?? EnvironmentProxy.mayBeSecure
        guard !hasProxy, values.cookieFile == nil || !key.carriesSecrets else { return nil }
        var named: Set<String> = []
        for line in texts { named.insert(HeaderLines.name(of: line)) }
        guard named.isDisjoint(with: RequestField.framing) else { return nil }
        var fields: [String] = []
        if !values.userAgent.isEmpty, !named.contains("user-agent") { fields.append("User-Agent: \(values.userAgent)") }
        if !named.contains("accept") { fields.append("Accept: */*") }
        let referer = HeaderLines.referer(of: values, to: key.scheme, whole: key.carriesSecrets)
        if let referer, !named.contains("referer") { fields.append("Referer: \(referer)") }
        guard fields.allSatisfy(FieldText.isSafe) else { return nil }
        fields += texts.compactMap(Self.field)
        return Array((fields.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    /// A header line as libcurl sends it: `Name:` removes a field, `Name;` sends one without a value.
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
