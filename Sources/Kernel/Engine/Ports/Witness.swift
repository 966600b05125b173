package import PawlCore

/// An observer of every decision of every machine before it is carried out: for checks of the engine's laws.
package protocol Witness: AnyObject, Sendable {
    /// `run` distinguishes this run of the download from earlier ones.
    func decided(_ id: DownloadID, run: UInt64, _ actions: [Action], _ machine: DownloadMachine)
}
