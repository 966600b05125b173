import PawlBase
import PawlHTTP

/// Reads what an object store says of a request that it refuses, before the transfer's receiver sees the response.
///
/// A request that failed because of the store's region or clock is repeated once.
final class RefusalSink: ForwardingSink {
    /// What a response says of the store, and makes another request worthwhile.
    enum News {
        case region(String)
        case skew(Int64)
    }

    let target: any TransferSink
    private let object: WebAddress
    private var access: S3Access
    private let restart: (News, TransferID, any TransferSink) -> Void
    private let wallTime: () -> UnixTime
    private var mayRepeat = true
    private var news: News?
    /// The refusal whose body is being read.
    private var refused: ResponseHead?
    private var body: [UInt8] = []

    init(
        before target: any TransferSink, _ object: WebAddress, _ access: S3Access,
        restart: @escaping (News, TransferID, any TransferSink) -> Void, wallTime: @escaping () -> UnixTime
    ) {
        self.target = target
        self.object = object
        self.access = access
        self.restart = restart
        self.wallTime = wallTime
    }

    func transfer(_ id: TransferID, head: ResponseHead) -> Bool {
        if mayRepeat, let news = repetition(head) {
            self.news = news
            mayRepeat = false
            return false
        }
        // A redirect leads elsewhere, unsigned; 416 is about the range.
        let isRedirect = (300..<400).contains(head.status) && head.location != nil
        if head.status == 416 || isRedirect { return target.transfer(id, head: head) }
        guard head.status < 300 else {
            refused = head
            return true
        }
        guard head.entityTag != nil else {
            // Every object has an entity tag: this is another server, and its page no object.
            var head = head
            head.refusal = refusal(head, body: [])
            return target.transfer(id, head: head)
        }
        return target.transfer(id, head: head)
    }

    private func refusal(_ head: ResponseHead, body: [UInt8]) -> StatedRefusal {
        S3Refusal(head, body: body, access: access).stated(bucket: object.bucket)
    }

    private func repetition(_ head: ResponseHead) -> News? {
        if let corrected = access.corrected(by: head) {
            access = corrected
            return .region(corrected.region)
        }
        return access.skew(in: head, at: wallTime()).map { .skew($0) }
    }

    func transfer(_ id: TransferID, chunk: UnsafeRawBufferPointer) -> ChunkResult {
        guard refused != nil else { return unsafe target.transfer(id, chunk: chunk) }
        guard body.count + chunk.count <= S3Refusal.longest else { return .stop }
        unsafe body.append(contentsOf: chunk)
        return .taken
    }

    func transferEnded(_ id: TransferID, _ end: TransferEnd) {
        if let news {
            self.news = nil
            return restart(news, id, self)
        }
        guard var head = refused else { return target.transferEnded(id, end) }
        refused = nil
        head.refusal = refusal(head, body: body)
        // A refusal that is not wanted has cancelled the transfer: nothing more may be delivered.
        guard target.transfer(id, head: head) else { return }
        _ = unsafe body.withUnsafeBytes { unsafe target.transfer(id, chunk: $0) }
        target.transferEnded(id, end)
    }

    func holdsBack(_ id: TransferID) -> Bool { refused == nil && target.holdsBack(id) }

    func spliceTarget(_ id: TransferID) -> SpliceTarget? { refused == nil ? target.spliceTarget(id) : nil }
}
