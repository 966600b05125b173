package import PawlCore

/// Sees every decision of every machine before it is carried out: for those who hold the engine to its laws.
package protocol Witness: AnyObject, Sendable {
    /// `run` tells this run of the download from earlier ones.
    func decided(_ id: DownloadID, run: UInt64, _ actions: [Action], _ machine: DownloadMachine)
}
