/// The remedy for a failure; options and actions in it are values that each surface puts into its own text.
///
/// Written as a string: `"allow more with \(.timeout)"`.
package struct Remedy: Hashable, Sendable {
    package enum Part: Hashable, Sendable {
        case text(String)
        case option(OptionID)
        /// Continue the download.
        case resume
    }

    package private(set) var parts: [Part] = []

    package var isEmpty: Bool { parts.isEmpty }

    /// The text for all surfaces.
    package var text: String {
        worded {
            $0.title
        } resume: {
            "resume the download"
        }
    }

    package func worded(_ option: (OptionID) -> String, resume: () -> String) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .option(let id): option(id)
            case .resume: resume()
            }
        }.joined()
    }
}

extension Remedy {
    /// For a file of the user that cannot be opened.
    package static let checkPath: Remedy = "check the path and its permissions"

    /// The longest first.
    private static let titles: [(title: String, part: Part)] = (OptionID.allCases.map(Part.option) + [.resume]).map {
        (title: Remedy($0).text, part: $0)
    }.sorted { $0.title.utf8.count > $1.title.utf8.count }

    private init(_ part: Part) { parts = [part] }

    /// The remedy whose ``text`` was stored or sent: its options are those whose titles occur.
    package init(reading text: String) {
        var rest = text[...]
        while let (range, part) = Remedy.firstTitle(in: rest) {
            if range.lowerBound > rest.startIndex { parts.append(.text(String(rest[..<range.lowerBound]))) }
            parts.append(part)
            rest = rest[range.upperBound...]
        }
        if !rest.isEmpty { parts.append(.text(String(rest))) }
    }

    /// The first title as a whole word, the longest of those at one place.
    private static func firstTitle(in text: Substring) -> (range: Range<Substring.Index>, part: Part)? {
        var found: (range: Range<Substring.Index>, part: Part)?
        for (title, part) in titles {
            let range = text.ranges(of: title).first { text[$0.upperBound...].first?.isLetter != true }
            guard let range, range.lowerBound < found?.range.lowerBound ?? text.endIndex else { continue }
            found = (range, part)
        }
        return found
    }
}

extension Remedy: ExpressibleByStringInterpolation {
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var parts: [Part] = []

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ literal: String) { if !literal.isEmpty { parts.append(.text(literal)) } }

        package mutating func appendInterpolation(_ text: String) { appendLiteral(text) }

        package mutating func appendInterpolation(_ part: Part) { parts.append(part) }

        package mutating func appendInterpolation(_ remedy: Remedy) { parts += remedy.parts }
    }

    package init(_ text: String) { parts = text.isEmpty ? [] : [.text(text)] }

    package init(stringLiteral text: String) { self.init(text) }

    package init(stringInterpolation: StringInterpolation) { parts = stringInterpolation.parts }
}

/// An option of a download that a failure can name.
package enum OptionID: Hashable, Sendable, CaseIterable {
    case addressOverrides, allowsDowngrade, authorityFile, certificate, checksum, connectTimeout, connections,
        cookieFile, deniesPrivateAddresses, endpoint, existingFile, expectedLength, fileName, header, interface,
        ipVersion, keepsServerTime, key, lowestSpeed, maximumRedirects, maximumRetryAfter, minisignKey, mirror, naming,
        netrc, noProxy, openPGPKeyring, pinnedPublicKeys, profile, proxy, range, rateLimit, referer, region, retries,
        retriesCorrupt, retryDelay, signsRequests, storesAttributes, timeout, trustsRedirects, user, userAgent,
        verification, verifiesPeer

    /// Its name in a sentence.
    package var title: String {
        switch self {
        case .addressOverrides: "the address of a host"
        case .allowsDowngrade: "redirects from https to http"
        case .authorityFile: "the certificate authority file"
        case .certificate: "the client certificate"
        case .checksum: "the checksum"
        case .connectTimeout: "the connect timeout"
        case .connections: "the number of connections"
        case .cookieFile: "the cookie file"
        case .deniesPrivateAddresses: "the blocking of private addresses"
        case .endpoint: "the endpoint of the object store"
        case .existingFile: "the policy for existing files"
        case .expectedLength: "the expected size"
        case .fileName: "the file name"
        case .header: "the header field"
        case .interface: "the interface"
        case .ipVersion: "the version of the Internet Protocol"
        case .keepsServerTime: "the server's file time"
        case .key: "the client key"
        case .lowestSpeed: "the lowest speed"
        case .maximumRedirects: "the number of redirects"
        case .maximumRetryAfter: "the longest Retry-After"
        case .mirror: "the mirror"
        case .naming: "the source of the file name"
        case .netrc: "the netrc file"
        case .openPGPKeyring: "the OpenPGP keyring"
        case .minisignKey: "the minisign key"
        case .noProxy: "the hosts that bypass the proxy"
        case .pinnedPublicKeys: "the pinned public keys"
        case .profile: "the profile"
        case .proxy: "the proxy"
        case .range: "the range"
        case .rateLimit: "the speed limit"
        case .referer: "the referer"
        case .region: "the region"
        case .retries: "the number of retries"
        case .retriesCorrupt: "the option to download corrupt bytes again"
        case .signsRequests: "the signature of requests"
        case .storesAttributes: "the extended attributes"
        case .verification: "the verification"
        case .retryDelay: "the delay between retries"
        case .timeout: "the timeout"
        case .trustsRedirects: "credentials for redirect targets"
        case .user: "the user name and password"
        case .userAgent: "the user agent"
        case .verifiesPeer: "certificate verification"
        }
    }
}
