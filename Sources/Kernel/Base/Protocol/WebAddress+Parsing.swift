extension WebAddress {
    /// Parses an absolute URL as typed by a user: surrounding white space is dropped, spaces and letters of
    /// other scripts in path and query are percent-encoded, the user info is returned separately.
    ///
    /// Throws code 28.
    package static func parse(_ text: String) throws(Failure) -> (address: WebAddress, credentials: Credentials?) {
        if let plain = plain(text) { return (plain, nil) }
        do throws(AddressFlaw) {
            let (address, userInfo) = try read(reference(text))
            return (address, try userInfo.flatMap(credentials))
        } catch { throw failure(error, text) }
    }

    static func failure(_ flaw: AddressFlaw, _ text: String) -> Failure {
        Failure(
            .badOption, "cannot use the URL", at: Redaction.address(text), because: flaw.why,
            remedy: Remedy(flaw.remedy))
    }

    /// The common case in one pass over the text, which is then the address's own: HTTP, a name or a dotted quad in
    /// lower case, and a path without anything to encode, to decode or to resolve.
    ///
    /// A list may have thousands of URLs.
    private static func plain(_ text: String) -> WebAddress? {
        let found = unsafe text.utf8.withContiguousStorageIfAvailable { unsafe plain($0, text) }
        return found ?? nil
    }

    private static func plain(_ bytes: UnsafeBufferPointer<UInt8>, _ text: String) -> WebAddress? {
        let isSecure = unsafe bytes.starts(with: "https://".utf8)
        guard unsafe isSecure || bytes.starts(with: "http://".utf8), bytes.count <= longest else { return nil }
        let scheme = isSecure ? Scheme.https : .http
        let start = isSecure ? 8 : 7
        guard let slash = unsafe bytes[start...].firstIndex(of: .slash) else { return nil }
        let colon = unsafe bytes[start..<slash].firstIndex(of: .colon)
        let host = unsafe bytes[start..<(colon ?? slash)]
        guard unsafe HostName.isPlain(host) || HostName.isDottedQuad(host) else { return nil }
        var port = scheme.defaultPort
        if let colon {
            // In the only form that is the address's own.
            let digits = unsafe bytes[(colon + 1)..<slash]
            guard let number = unsafe digits.decimalNumber.flatMap(UInt16.init(exactly:)), unsafe digits.first != 0x30,
                number != port
            else { return nil }
            port = number
        }
        var before: UInt8 = 0
        for index in slash..<bytes.count {
            let byte = unsafe bytes[index]
            guard PercentCoding.isPathCharacter(byte), before != .slash || byte != .dot else { return nil }
            before = byte
        }
        return unsafe WebAddress(
            scheme: scheme, host: String(decoding: host, as: UTF8.self), port: port,
            path: String(decoding: bytes[slash...], as: UTF8.self), text: text)
    }

    /// In bytes; RFC 9110 §4.1 recommends support for 8,000 and more.
    private static let longest = 1 << 18

    /// `text` without white space around it, free of control characters; spaces at the end of a key are its own.
    static func reference(_ text: String) throws(AddressFlaw) -> ArraySlice<UInt8> {
        let all = Array(text.utf8)
        let bytes = all.trimmed(\.isWhiteSpace)
        guard LocatedScheme(beginning: bytes) != nil else { return try allowed(bytes) }
        let end = all[bytes.endIndex...].prefix { $0 == .space || $0 == .tab }.endIndex
        return try allowed(all[bytes.startIndex..<end], inKey: true)
    }

    /// Throws for what no URL may have.
    ///
    /// A key of an object is literal, so that it may have a tab; a line end would end its line in lists.
    static func allowed(_ bytes: ArraySlice<UInt8>, inKey isKey: Bool = false) throws(AddressFlaw) -> ArraySlice<UInt8>
    {
        guard bytes.count <= longest else { throw AddressFlaw("address-long", "it is longer than \(longest) bytes") }
        guard !bytes.contains(where: { $0.isControl && !(isKey && $0 == .tab) }) else {
            throw AddressFlaw(
                "address-control-character", "it contains a control character",
                remedy: isKey ? "copy it to another key" : "percent-encode it or leave it out")
        }
        return bytes
    }

    /// Parses an absolute URL that went through `reference`; the user info is returned raw.
    static func read(
        _ bytes: ArraySlice<UInt8>
    ) throws(AddressFlaw) -> (address: WebAddress, userInfo: ArraySlice<UInt8>?) {
        guard !bytes.isEmpty else { throw AddressFlaw("address-empty", "it is empty") }
        guard let colon = schemeEnd(bytes) else { throw missingScheme }
        let rest = bytes[(colon + 1)...]
        let scheme = try scheme(bytes[..<colon], before: rest)
        guard rest.starts(with: "//".utf8) else { throw missingHost(remedy: "write \(scheme.name)://HOST/PATH") }
        if case .located(let scheme) = scheme { return (try read(scheme, afterSlashes: rest.dropFirst(2)), nil) }
        let (address, userInfo) = try read(scheme, afterSlashes: rest.dropFirst(2))
        return (address, userInfo)
    }

    /// Parses the text after `scheme://`.
    static func read(
        _ scheme: Scheme, afterSlashes rest: ArraySlice<UInt8>
    ) throws(AddressFlaw) -> (address: WebAddress, userInfo: ArraySlice<UInt8>?) {
        let authority = rest.prefix { $0 != .slash && $0 != .questionMark && $0 != .hash }
        // Browsers read a backslash as a slash, other parsers as part of the user info: `//good\@bad/`.
        guard !authority.contains(.backslash) else {
            throw AddressFlaw("address-backslash", "it has a backslash before its path", remedy: "write / instead")
        }
        var userInfo: ArraySlice<UInt8>?
        var place = authority
        if let at = authority.lastIndex(of: .at) {
            userInfo = authority[..<at]
            place = authority[(at + 1)...]
        }
        let (host, port) = try hostAndPort(place)
        let (path, query) = split(rest[authority.endIndex...])
        let address = WebAddress(
            scheme: scheme, host: host, port: port ?? scheme.defaultPort, path: withoutDotSegments(path), query: query)
        return (address, userInfo)
    }

    /// The index of the scheme's colon, if the bytes begin with a scheme (RFC 3986 §3.1).
    static func schemeEnd(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.first?.isLetter == true else { return nil }
        let end = bytes.firstIndex { !($0.isLetter || $0.isDigit || $0 == .plus || $0 == .dash || $0 == .dot) }
        guard let end, bytes[end] == .colon else { return nil }
        return end
    }

    private static func scheme(_ name: ArraySlice<UInt8>, before rest: ArraySlice<UInt8>) throws(AddressFlaw) -> Scheme
    {
        if name.isCaseInsensitively("http") { return .http }
        if name.isCaseInsensitively("https") { return .https }
        let text = String(decoding: name.map(\.lowercased), as: UTF8.self)
        if let scheme = Scheme(text) { return scheme }
        // `example.org:8080/file` and `localhost:8080/file` have a port there, not a scheme.
        if !rest.starts(with: "//".utf8), name.contains(.dot) || rest.first?.isDigit == true { throw missingScheme }
        if text == "magnet" {
            throw AddressFlaw(
                "magnet-link", "magnet links need peers, which are not supported",
                remedy: "use a .torrent with web seeds, or a client of BitTorrent")
        }
        throw AddressFlaw(
            "address-scheme", "unsupported scheme '\(Redaction.clipped(text, to: 32))'",
            remedy: "supported: \(Scheme.list)")
    }

    private static func missingHost(remedy: String = "") -> AddressFlaw {
        AddressFlaw("address-without-host", "it has no host", remedy: remedy)
    }

    private static var missingScheme: AddressFlaw {
        AddressFlaw(
            "address-without-scheme", "it has no scheme", remedy: "begin it with https:// or another of \(Scheme.list)")
    }

    /// Path and query, percent-encoded; the fragment is dropped.
    static func split(_ rest: ArraySlice<UInt8>) -> (path: String, query: String?) {
        let used = rest.prefix { $0 != .hash }
        let path = used.prefix { $0 != .questionMark }
        let query = used[path.endIndex...].dropFirst()
        let hasQuery = path.endIndex != used.endIndex
        return (
            text(PercentCoding.encoded(path, keeping: PercentCoding.isPathCharacter)),
            hasQuery ? text(PercentCoding.encoded(query, keeping: PercentCoding.isQueryCharacter)) : nil
        )
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

extension WebAddress {
    private static func hostAndPort(_ place: ArraySlice<UInt8>) throws(AddressFlaw) -> (String, UInt16?) {
        var host = place
        var rest = place[place.endIndex...]
        if place.first == .leftBracket {
            guard let bracket = place.firstIndex(of: .rightBracket) else {
                throw AddressFlaw("address-bracket", "the bracket of its IPv6 address is not closed")
            }
            host = place[...bracket]
            rest = place[(bracket + 1)...]
        } else if let colon = place.firstIndex(of: .colon) {
            host = place[..<colon]
            rest = place[colon...]
        }
        guard !host.isEmpty else { throw missingHost() }
        guard rest.first == .colon || rest.isEmpty else {
            throw AddressFlaw("address-after-ipv6", "unexpected text follows its IPv6 address")
        }
        let name = try HostName.parse(host)
        let digits = rest.dropFirst()
        // A colon without digits means the default (RFC 3986 §3.2.3).
        if digits.isEmpty { return (name, nil) }
        guard digits.count <= 5, let number = digits.decimalNumber, let port = UInt16(exactly: number), port > 0 else {
            throw AddressFlaw("address-port", "its port is not a number from 1 to 65535")
        }
        return (name, port)
    }

    private static func credentials(_ userInfo: ArraySlice<UInt8>) throws(AddressFlaw) -> Credentials? {
        guard !userInfo.isEmpty else { return nil }
        let user = userInfo.prefix { $0 != .colon }
        let password = userInfo[user.endIndex...].dropFirst()
        guard let user = String(validating: PercentCoding.decoded(user), as: UTF8.self),
            let password = String(validating: PercentCoding.decoded(password), as: UTF8.self)
        else { throw AddressFlaw("address-login-not-text", "its user name or password is not valid UTF-8") }
        // FTP sends both in command lines: a line end would begin a command of its own.
        guard !(user.utf8.contains(where: \.isControl) || password.utf8.contains(where: \.isControl)) else {
            throw AddressFlaw(
                "address-login-control-character", "its user name or password contains a control character")
        }
        return Credentials(user: user, password: password)
    }
}

extension WebAddress.Scheme: CaseIterable {
    package static let allCases: [Self] =
        [.http, .https, .ftp, .ftps, .sftp] + LocatedScheme.allCases.map(Self.located)

    /// That of a name in lower case.
    package init?(_ name: String) {
        guard let scheme = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = scheme
    }

    /// As in a URL.
    package var name: String {
        switch self {
        case .http: "http"
        case .https: "https"
        case .ftp: "ftp"
        case .ftps: "ftps"
        case .sftp: "sftp"
        case .located(let scheme): scheme.rawValue
        }
    }

    package var isLocated: Bool {
        if case .located = self { true } else { false }
    }

    package var defaultPort: UInt16 {
        switch self {
        case .http: 80
        case .https: 443
        case .ftp: 21
        case .ftps: 990
        case .sftp: 22
        // Never connected to, and never shown.
        case .located: 443
        }
    }

    /// Whether the connection is encrypted.
    package var isSecure: Bool {
        switch self {
        case .https, .ftps, .sftp, .located: true
        case .http, .ftp: false
        }
    }

    /// Those that users write, for messages.
    static var list: String {
        allCases.filter { if case .located(let scheme) = $0 { !scheme.holdsURL } else { true } }.map(\.name)
            .joined(separator: ", ")
    }
}
