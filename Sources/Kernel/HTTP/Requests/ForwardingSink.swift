package import PawlBase

/// Stands before a transfer's receiver, and passes on what it does not handle itself.
package protocol ForwardingSink: TransferSink { var target: any TransferSink { get } }

extension ForwardingSink {
    package func transfer(_ id: TransferID, timing: TransferTiming) { target.transfer(id, timing: timing) }

    package func transfer(_ id: TransferID, sent count: Int) { target.transfer(id, sent: count) }

    package func transfer(_ id: TransferID, chunk: UnsafeRawBufferPointer) -> ChunkResult {
        unsafe target.transfer(id, chunk: chunk)
    }

    package func holdsBack(_ id: TransferID) -> Bool { target.holdsBack(id) }

    package func spliceTarget(_ id: TransferID) -> SpliceTarget? { target.spliceTarget(id) }

    package func transfer(_ id: TransferID, willSplice count: Int) { target.transfer(id, willSplice: count) }

    package func transfer(_ id: TransferID, spliced count: Int) -> ChunkResult { target.transfer(id, spliced: count) }
}
