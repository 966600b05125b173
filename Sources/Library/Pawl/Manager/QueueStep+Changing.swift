package import PawlBase
import PawlQueue

extension QueueStep {
    /// Moves a download that has not begun to another folder, relative to the root.
    ///
    /// `false` if there is no such download. Throws code 28 if the folder cannot be used, or if there are files of the
    /// download in the present one.
    package func change(folder: String, of id: Download.ID) throws(Failure) -> Bool {
        guard var record = try keeper.record(QueueID(id)), record.state != .removed else { return false }
        let folder = try AddOrder.folder(folder)
        guard !folder.hasSameBytes(as: record.folder) else { return true }
        guard record.name == nil, record.state != .finished, keeper.runs[record.id] == nil else {
            throw Failure(
                .badOption, "cannot use", at: "the folder \(folder)",
                because: LocalizableMessage("folder-in-use", "the download has begun in another one"),
                remedy: "add it again")
        }
        record.folder = folder
        try keeper.checkPlace(of: record)
        keeper.edit(record.id) { $0.folder = folder }
        keeper.notify(record.id, .changed)
        return true
    }
}
