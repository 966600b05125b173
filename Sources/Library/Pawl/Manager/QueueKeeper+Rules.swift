#if Queue
import PawlBase
import PawlEngine
import PawlQueue

// The folders of new downloads.
extension QueueKeeper {
    private static let rulesName = "folder rules"

    func loadRules() throws(Failure) { rules = FolderRules(stored: try store.value(Self.rulesName) ?? "") }

    func change(rules new: [FolderRule]) throws(Failure) {
        let changed = try FolderRules(new)
        for rule in new { try checkPlace(rule.folder) }
        rules = changed
        values[Self.rulesName] = rules.stored
    }

    /// Gives a new download the folder of the rules.
    func place(_ record: inout QueueRecord) throws(Failure) {
        guard !rules.all.isEmpty, let subject = subject(record) else { return }
        if let folder = rules.folder(of: subject) { record.folder = folder }
        record.change { $0.followsRules = true }
    }

    private func subject(_ record: QueueRecord) -> FolderRule.Subject? {
        guard let address = try? WebAddress.parse(record.sources[0]).address else { return nil }
        let stored = StoredOptions(text: record.options)
        let name = record.name ?? stored.newName ?? stored.options.fileName ?? address.lastPathComponent
        return FolderRule.Subject(address: address, name: name, mediaType: record.contentType)
    }

    /// Moves a finished download where the rules want it, now that its name and type are known.
    ///
    /// If that is impossible, it stays where it is, and a notice says why.
    func placed(_ id: QueueID, _ file: DownloadedFile) -> DownloadedFile {
        do throws(Failure) {
            guard !file.wasThere, let record = try record(id), StoredOptions(text: record.options).followsRules,
                let subject = subject(record), let folder = rules.folder(of: subject),
                !folder.hasSameBytes(as: record.folder)
            else { return file }
            let moves = try relocate(byRule: record, to: folder)
            return self.file(file, movedTo: folder.isEmpty ? root : "\(root)/\(folder)", moves)
        } catch {
            notify(id, .notice(DownloadNotice(LocalizableMessage(error))))
            return file
        }
    }
}

extension DownloadManager {
    /// The folders of new downloads.
    package func folderRules() async throws(PawlError) -> [FolderRule] { try await query { $0.rules.all } }

    /// The folder that the rules give a source; `nil` for none, and for one that has no URL, as a torrent.
    package func folder(byRulesFor source: String) async throws(PawlError) -> String? {
        guard let subject = try? FolderRule.Subject(source) else { return nil }
        return try await query { $0.rules.folder(of: subject) }
    }
}
#endif
