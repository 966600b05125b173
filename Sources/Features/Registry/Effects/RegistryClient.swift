package import PawlBase
import PawlDisk
import PawlHTTP
import PawlSystem

/// A registry's manifests; requests block the calling thread.
package struct RegistryClient: Sendable {
    /// A manifest or index, checked against its digest.
    package struct Manifest: Hashable, Sendable {
        package var bytes: [UInt8]
        package var descriptor: Descriptor
        package var document: RegistryDocument
    }

    package let access: RegistryAccess
    private let client: HTTPClient
    private let settings: TransferSettings
    private let policy: RetryPolicy
    private let tokens: RegistryTokens

    /// `patience`: the longest time without data, in seconds.
    package init(
        _ access: RegistryAccess, _ settings: TransferSettings, patience: Double, policy: RetryPolicy,
        tokens: RegistryTokens = .shared
    ) {
        self.access = access
        self.settings = settings
        client = HTTPClient(settings, patience: patience)
        self.policy = policy
        self.tokens = tokens
    }

    private static let what = "cannot fetch the manifest of"

    /// Throws code 3 where there is none, 24 where the registry refuses, 22 for a document that cannot be used, 32 for another
    /// digest.
    package func manifest(_ reference: RegistryReference) throws(Failure) -> Manifest {
        let url = access.manifest(reference)
        if let helper = access.helper(for: reference) { _ = try CredentialHelpers.shared.ask(helper) }
        let login = access.login(to: reference)
        let key = RegistryTokens.Key(url, reference, login)
        var (head, body) = try get(url, reference, key, acceptsChallenge: true)
        if head.status == 401 {
            try answer(head, url, reference, key, login)
            (head, body) = try get(url, reference, key, acceptsChallenge: false)
        }
        let digest = RegistryDigest(Checksum(algorithm: .sha256, digest: ContentDigest.digest(.sha256, of: body)))
        if let wanted = reference.digest {
            let found = ContentDigest.digest(wanted.checksum.algorithm, of: body)
            guard found == wanted.checksum.digest else { throw mismatch(reference, wanted.text) }
        } else if let stated = head.field("docker-content-digest").flatMap({ RegistryDigest($0) }) {
            let found = ContentDigest.digest(stated.checksum.algorithm, of: body)
            guard found == stated.checksum.digest else { throw mismatch(reference, stated.text) }
        }
        do throws(RegistryDocument.Flaw) {
            let (document, type) = try RegistryDocument.parse(body, type: head.contentType)
            let descriptor = Descriptor(type: type, digest: reference.digest ?? digest, size: Int64(body.count))
            return Manifest(bytes: body, descriptor: descriptor, document: document)
        } catch {
            throw Failure(.badResponse, "cannot use the manifest of", at: reference.text, because: error.why)
        }
    }

    private func mismatch(_ reference: RegistryReference, _ digest: String) -> Failure {
        Failure(
            .checksumMismatch, "checksum mismatch:", at: reference.text,
            because: "the manifest that \(reference.registry) sent does not have the digest \(digest)")
    }

    private func get(
        _ url: WebAddress, _ reference: RegistryReference, _ key: RegistryTokens.Key, acceptsChallenge: Bool
    ) throws(Failure) -> (head: ResponseHead, body: [UInt8]) {
        try client.get(url, to: Self.what, limit: RegistryDocument.longest, policy: policy) { () throws(Failure) in
            [RegistryDocument.accept]
                + (tokens.field(key, at: SystemClock().now).map { ["Authorization: \($0)"] } ?? [])
        } refusal: { head, body in
            if 200..<300 ~= head.status || head.status == 401 && acceptsChallenge { return nil }
            return refusal(head.status, RegistryRefusal.code(in: body), reference)
        }
    }

    private func refusal(_ status: Int, _ code: String, _ reference: RegistryReference) -> StatedRefusal {
        RegistryRefusal(
            status: status, code: code,
            hasLogin: access.login(to: reference) != nil, hasHelpers: access.hasIdleHelpers,
            registry: reference.registry
        ).stated
    }

    /// Gets the token that a 401 asks for.
    private func answer(
        _ head: ResponseHead, _ url: WebAddress, _ reference: RegistryReference, _ key: RegistryTokens.Key,
        _ login: RegistryLogin?
    ) throws(Failure) {
        let question: TokenQuestion
        do throws(TokenQuestion.Flaw) {
            question = try TokenQuestion(LoginChallenge.all(in: head), from: url, of: reference.name, login)
        } catch {
            throw refusal(401, "", reference).failure(Self.what, url)
        }
        switch question {
        case .basic(let field): tokens.note(basic: field, for: key)
        case .token(let asking):
            let (head, body): (ResponseHead, [UInt8])
            do throws(TransferFault) {
                (head, body) = try client.perform(
                    HTTPClient.Request(
                        asking.body.isEmpty ? "GET" : "POST", asking.address,
                        lines: asking.lines + ["Accept-Encoding: identity"], body: asking.body,
                        limit: RegistryToken.longest))
            } catch {
                throw Failure(
                    RetryPolicy.disposition(of: .transfer(error)).code, "cannot get a token for", at: reference.text,
                    because: "\(asking.address.authority): \(error.text)")
            }
            guard head.status == 200, let token = RegistryToken(body) else {
                let refusal = refusal([401, 403].contains(head.status) ? 401 : head.status, "", reference)
                throw refusal.failure("cannot get a token for", url)
            }
            tokens.note(token, for: key, at: SystemClock().now)
        }
    }
}
