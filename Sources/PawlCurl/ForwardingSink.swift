import PawlCore
import PawlEngine

/// Stands before a transfer's receiver, and passes on what it does not handle itself.
protocol ForwardingSink: TransferSink { var target: any TransferSink { get } }

extension ForwardingSink {
    func transfer(_ id: TransferID, timing: TransferTiming) { target.transfer(id, timing: timing) }

    func transfer(_ id: TransferID, chunk: UnsafeRawBufferPointer) -> ChunkResult {
        unsafe target.transfer(id, chunk: chunk)
    }

    func holdsBack(_ id: TransferID) -> Bool { target.holdsBack(id) }

    func spliceTarget(_ id: TransferID) -> SpliceTarget? { target.spliceTarget(id) }

    func transfer(_ id: TransferID, willSplice count: Int) { target.transfer(id, willSplice: count) }

    func transfer(_ id: TransferID, spliced count: Int) -> ChunkResult { target.transfer(id, spliced: count) }
}
