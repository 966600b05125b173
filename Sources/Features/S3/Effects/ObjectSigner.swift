package import PawlBase
import PawlHTTP

/// What was learned of object stores: their clocks, and the regions of buckets.
private struct StoreMemory {
    /// By the authority of the store; the server's time minus this machine's, in seconds.
    private var skews: [String: Int64] = [:]
    private var regions: [String: String] = [:]

    private static let longest = 1024

    func skew(of access: S3Access) -> Int64 { skews[access.place] ?? 0 }

    /// The access with the region of the bucket.
    func access(_ access: S3Access, to object: WebAddress) -> S3Access {
        guard let region = regions[Self.key(object, access)] else { return access }
        var access = access
        access.region = region
        return access
    }

    mutating func note(skew: Int64, of access: S3Access) {
        if skews.count >= Self.longest { skews = [:] }
        skews[access.place] = skew
    }

    mutating func note(region: String, of object: WebAddress, _ access: S3Access) {
        if regions.count >= Self.longest { regions = [:] }
        regions[Self.key(object, access)] = region
    }

    private static func key(_ object: WebAddress, _ access: S3Access) -> String { "\(access.place)/\(object.bucket)" }
}

/// Signs requests to object stores.
package enum ObjectSigner {
    /// SHA-256.
    package static let hash: RequestSigner.Hash = { bytes in
        guard let digest = Logins.hash(.sha256, bytes) else { preconditionFailure("libcrypto has no SHA-256") }
        return digest
    }

    /// The header lines that a request needs, none for one without credentials.
    ///
    /// `fields` are others of the request that a store checks.
    package static func lines(
        _ method: String, _ location: WebAddress, fields: [(name: String, value: String)],
        body: RequestSigner.BodyDigest, _ access: S3Access, at time: UnixTime
    ) -> [String] {
        let given = fields.map { "\($0.name): \($0.value)" }
        guard let credentials = access.credentials else { return given }
        let signer = RequestSigner(credentials, region: access.region, hash: hash)
        return given
            + signer.signed(method, location, fields: fields, body: body, at: time).map { "\($0.name): \($0.value)" }
    }
}

/// Signs a transport's requests for objects, and repeats one once if the store's region or clock is another.
package final class S3Preparer: RequestPreparing {
    private let clock: any Clock
    private var memory = StoreMemory()

    package init(clock: any Clock) { self.clock = clock }

    package func begin(
        _ request: TransferRequest, for object: WebAddress, as id: TransferID, sink: any TransferSink,
        start: @escaping (TransferRequest, TransferID, any TransferSink) -> Void
    ) {
        let access = memory.access(Self.access(of: request), to: object)
        let front = RefusalSink(before: sink, object, access) { [self] news, id, sink in
            switch news {
            case .region(let region): memory.note(region: region, of: object, access)
            case .skew(let skew): memory.note(skew: skew, of: access)
            }
            start(signed(request, object), id, sink)
        } wallTime: { [clock] in
            clock.wallTime
        }
        start(signed(request, object), id, front)
    }

    private static func access(of request: TransferRequest) -> S3Access {
        request.settings.values.accesses[.s3]?.locating as? S3Access ?? S3Access()
    }

    private func signed(_ request: TransferRequest, _ object: WebAddress) -> TransferRequest {
        let access = memory.access(Self.access(of: request), to: object)
        var request = request
        if access.endpoint == nil { request.address = access.location(of: object) }
        // Stores that check signatures require those of their own fields.
        let own = request.settings.values.headers.compactMap { line -> (name: String, value: String)? in
            let name = HeaderLine.name(of: line)
            guard name.hasPrefix("x-amz-"), let colon = line.firstIndex(of: ":") else { return nil }
            return (name, String(line[line.index(after: colon)...]))
        }
        var fields = own
        if !own.contains(where: { $0.name == "x-amz-checksum-mode" }) {
            fields.append(("x-amz-checksum-mode", "ENABLED"))
        }
        let time = UnixTime(seconds: clock.wallTime.seconds &+ memory.skew(of: access))
        request.fields += ObjectSigner.lines("GET", request.address, fields: fields, body: .empty, access, at: time)
        return request
    }
}

extension S3Access: ObjectLocating {}
