package import PawlBase

/// Stands before a transfer's receiver, and passes on what it does not handle itself.
package protocol ForwardingSink: TransferSink { var target: any TransferSink { get } }

extension ForwardingSink {
    package func transfer(_ id: TransferID, timing: TransferTiming) { target.transfer(id, timing: timing) }

    package func transfer(_ id: TransferID, chunk: UnsafeRawBufferPointer) -> ChunkResult {
        unsafe target.transfer(id, chunk: chunk)
    }

    package func holdsBack(_ id: TransferID) -> Bool { target.holdsBack(id) }

    package func spliceTarget(_ id: TransferID) -> SpliceTarget? { target.spliceTarget(id) }

    package func transfer(_ id: TransferID, willSplice count: Int) { target.transfer(id, willSplice: count) }

    package func transfer(_ id: TransferID, spliced count: Int) -> ChunkResult { target.transfer(id, spliced: count) }
}

/// Intercepts a response of HTTP/2 without a length before a transfer's receiver, and repeats the request over HTTP/1.1.
///
/// A server may reset a stream without an error (RST_STREAM with NO_ERROR) when it gives a response up. libcurl 7.88 reports
/// that like the end of the stream: without a length a part of the content would count as all of it. Chunks of HTTP/1.1 mark
/// their end.
final class UnknownEndSink: ForwardingSink {
    let target: any TransferSink
    private let restart: (any TransferSink) -> Void
    private var isStartingOver = false

    init(before target: any TransferSink, restart: @escaping (any TransferSink) -> Void) {
        self.target = target
        self.restart = restart
    }

    func transfer(_ id: TransferID, head: ResponseHead) -> Bool {
        isStartingOver = Self.hasUnknownEnd(head)
        return isStartingOver ? false : target.transfer(id, head: head)
    }

    private static func hasUnknownEnd(_ head: ResponseHead) -> Bool {
        (head.status == 200 || head.status == 206) && head.contentLength == nil
            && head.lines.starts(with: "HTTP/2".utf8)
    }

    func transferEnded(_ id: TransferID, _ end: TransferEnd) {
        if isStartingOver { restart(target) } else { target.transferEnded(id, end) }
    }
}
