import PawlBase
import PawlCollections
import Synchronization

/// A server with pages, which knows no WebDAV.
final class MirrorServer: PageFetching {
    struct Page: Sendable {
        var bytes: [UInt8]
        var isRefused = false
    }

    private let pages: [String: Page]

    init(pages: [String: Page]) { self.pages = pages }

    func fetch(_ request: PageRequest, onChange: @escaping @Sendable () -> Void) throws(Failure) -> any PageTransfer {
        guard let page = pages[request.address.path], !page.isRefused, request.listing == nil else {
            return Transfer(nil, [], Failure(.badResponse, "cannot fetch", at: request.address.text, because: "no"))
        }
        return Transfer(PageHead(address: request.address, contentType: nil), page.bytes, nil)
    }

    private final class Transfer: PageTransfer {
        let head: PageHead?
        let end: Result<Void, Failure>?
        private let bytes: Mutex<[UInt8]>

        init(_ head: PageHead?, _ bytes: [UInt8], _ failure: Failure?) {
            self.head = head
            self.bytes = Mutex(bytes)
            end = failure.map { .failure($0) } ?? .success(())
        }

        func take() -> [UInt8]? {
            bytes.withLock { bytes in
                defer { bytes = [] }
                return bytes.isEmpty ? nil : bytes
            }
        }
        func cancel() {}
    }
}
