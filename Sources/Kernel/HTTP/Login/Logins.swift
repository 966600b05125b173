import CTLS
import Glibc
package import PawlBase
import PawlSystem

/// The credentials of requests, and the schemes that origins accept.
///
/// FTP and SFTP get theirs with the request.
package final class Logins {
    private var files: [Bytewise<String>: NetrcFile] = [:]
    /// The file that is read without being named.
    private let ownFile = Environment.home.map { NetrcFile($0 + "/.netrc") }
    /// Origins that accepted Basic and offer nothing better: it is sent at once, which saves a round trip per file.
    private var basic: Set<Key> = []

    private enum Key: Hashable {
        case origin(Origin, SettingsID, carriesSecrets: Bool)
        case proxy(ProxyRoute)

        init(_ request: TransferRequest, _ side: LoginSink.Side) {
            switch side {
            case .origin:
                self = .origin(
                    request.address.origin, request.settings.id, carriesSecrets: request.carriesSecrets)
            case .proxy(let route): self = .proxy(route)
            }
        }
    }

    private enum Limit {
        static let files = 16
        static let origins = 1024
    }

    /// The login of `request`, if there is one.
    ///
    /// Throws when a netrc file that the user named cannot be read.
    func login(for request: TransferRequest, at now: Instant) throws(TransferFault) -> Credentials? {
        if let own = request.ownLogin { return own }
        let values = request.settings.values
        if request.carriesSecrets, let credentials = values.credentials { return credentials }
        guard let netrc = values.netrc, request.carriesSecrets || request.leadsToOtherHost else { return nil }
        guard !netrc.isEmpty || values.usesOwnersSecrets else { return nil }
        guard let file = netrc.isEmpty ? ownFile : self.file(netrc) else { return nil }
        guard file.refresh(at: now) || netrc.isEmpty else {
            throw .unreadable(netrc: netrc)
        }
        // An entry with a host name applies to that host after any redirect; the default entry does not.
        return file.netrc?.login(for: request.address.host, orDefault: request.carriesSecrets)
    }

    private func file(_ path: String) -> NetrcFile {
        if let file = files[Bytewise(path)] { return file }
        if files.count >= Limit.files { files.removeAll() }
        let file = NetrcFile(path)
        files[Bytewise(path)] = file
        return file
    }

    /// Whether the user has set the Authorization field.
    func isGiven(_ request: TransferRequest) -> Bool {
        request.fields.contains { HeaderLine.name(of: $0) == "authorization" }
            || request.ownLogin == nil && request.carriesSecrets
                && request.settings.values.headers.contains { HeaderLine.name(of: $0) == "authorization" }
    }

    func takesBasic(_ request: TransferRequest, _ side: LoginSink.Side = .origin) -> Bool {
        basic.contains(Key(request, side))
    }

    func note(_ request: TransferRequest, _ side: LoginSink.Side, takesBasic: Bool) {
        if basic.count >= Limit.origins { basic.removeAll(keepingCapacity: true) }
        let key = Key(request, side)
        if takesBasic { basic.insert(key) } else { basic.remove(key) }
    }

    /// The value of Authorization for one of `challenges`: the strongest Digest, else Basic.
    static func response(
        _ challenges: [LoginChallenge], _ login: Credentials, _ method: String = "GET", target: String
    ) -> String? {
        let digests = challenges.compactMap(DigestChallenge.init).sorted {
            $0.algorithm.rawValue > $1.algorithm.rawValue
        }
        for digest in digests {
            let nonce = String(UInt64.random(in: .min ... .max), radix: 16)
            if let response = digest.response(login, method, target: target, clientNonce: nonce, hash: hash) {
                return response
            }
        }
        return challenges.contains { $0.scheme == "basic" } ? LoginField.basic(login) : nil
    }

    package static func hash(_ algorithm: DigestChallenge.Algorithm, _ bytes: [UInt8]) -> [UInt8]? {
        let kind =
            switch algorithm {
            case .md5: PAWL_TLS_MD5
            case .sha256: PAWL_TLS_SHA256
            case .sha512half: PAWL_TLS_SHA512_256
            }
        var digest = [UInt8](repeating: 0, count: Int(PAWL_TLS_LONGEST_DIGEST))
        let count = unsafe pawl_tls_digest(Int32(kind), bytes, bytes.count, &digest)
        return count > 0 ? Array(digest.prefix(Int(count))) : nil
    }
}
