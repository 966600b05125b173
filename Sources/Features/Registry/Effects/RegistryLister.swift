package import PawlBase
package import PawlCollections

/// Lists the blobs of an image or artifact of a registry.
package struct RegistryLister: CollectionLister {
    /// What the blobs become.
    private enum Form {
        case layout(ImageFolder)
        case archive(ArchiveFile)
        case ollama(OllamaFolder)
        /// Files under their titles.
        case files
    }

    private let client: RegistryClient
    private let reference: RegistryReference
    private let choice: RegistryPull.Choice
    private let filter: EntryFilter
    private let form: Form
    package let folder: String?

    /// Throws code 28 for an option that cannot be used.
    ///
    /// `platform`: of an index, `all` or `OS/ARCHITECTURE[/VARIANT]`; `nil` for this machine's. `isArtifact`: whether blobs become
    /// files under their titles. `folder`: the user's; `nil` for the usual one. `archive`: one file instead of a folder, for which
    /// ``ArchiveFile/mayHold(_:isArtifact:)`` is true.
    package init(
        _ client: RegistryClient, _ reference: RegistryReference, platform: String?, isArtifact: Bool,
        _ filter: EntryFilter, into folder: String?, archive: ArchiveFile? = nil
    ) throws(Failure) {
        self.client = client
        self.reference = reference
        self.filter = filter
        if let platform, platform != "all" {
            guard let platform = Platform(platform) else {
                throw Failure(
                    .badOption, "cannot use", at: "--platform \(platform)",
                    because: "it is not OS/ARCHITECTURE[/VARIANT] or 'all'")
            }
            choice = .one(platform)
        } else {
            choice = platform == nil ? .one(.own) : .all
        }
        if let archive {
            form = .archive(archive)
            self.folder = archive.folder
        } else if isArtifact {
            form = .files
            self.folder = folder
        } else if reference.scheme == .ollama {
            guard let path = folder ?? OllamaFolder.usual else {
                throw Failure(
                    .badOption, "missing", at: "HOME", because: "Ollama's models are below it",
                    remedy: "set OLLAMA_MODELS, or give their folder")
            }
            form = .ollama(OllamaFolder(at: path))
            self.folder = path
        } else {
            let path = folder ?? reference.name.pathParts().last.map(String.init) ?? reference.name
            form = .layout(ImageFolder(at: path))
            self.folder = path
        }
    }

    package var source: String { reference.text }

    package func list(into sink: ListingSink) throws(Failure) {
        let pull = try RegistryPull(client, reference, choice)
        for failure in pull.refused { sink.refuse(failure) }
        let entries = try entries(of: pull, sink)
        guard sink.isForDownload else {
            sink.put(entries)
            return
        }
        // A digest names the image already.
        let tag = reference.tag ?? (reference.digest == nil ? RegistryReference.defaultTag : nil)
        switch form {
        case .files: break
        case .ollama(let folder):
            sink.follow { [reference] () throws(Failure) in
                try folder.complete(pull, reference)
                return nil
            }
        case .archive(let file):
            let (image, manifests) = pull.layoutForm()
            let archive = ImageArchive(image, manifests, pull.blobs, tag: tag)
            if let text = try file.begin(archive) { return sink.tell(text) }
            guard pull.refused.isEmpty else { break }
            sink.follow { () throws(Failure) in try file.complete(archive) }
        case .layout(let folder):
            // An image without a layer that it needs is not complete.
            guard pull.refused.isEmpty else { break }
            sink.follow { () throws(Failure) in
                try folder.complete(pull, tag: tag)
                return nil
            }
        }
        sink.put(entries)
    }

    private func entries(of pull: RegistryPull, _ sink: ListingSink) throws(Failure) -> [CollectionEntry] {
        switch form {
        case .layout, .archive:
            return pull.blobs.filter { $0.digest != RegistryPull.empty.digest }.map { blob in
                let (folder, name) = ImageLayout.blob(blob.digest)
                return entry(blob, "\(folder)/\(name)", isOwn: true)
            }
        case .ollama: return pull.blobs.map { entry($0, "blobs/\(OllamaLayout.blob($0.digest))", isOwn: true) }
        case .files:
            let titled = pull.blobs.filter { $0.title != nil }
            guard !titled.isEmpty else {
                throw Failure(
                    .badOption, "cannot use", at: "--artifact", because: "\(reference.text) has no blob with a title",
                    remedy: "leave it out for a layout of the image")
            }
            return titled.compactMap { file($0, sink) }.filter(filter.takes)
        }
    }

    /// The blob under its title; `nil` if no file can have it.
    private func file(_ blob: Descriptor, _ sink: ListingSink) -> CollectionEntry? {
        guard let title = blob.title, title.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F && $0 != .backslash }),
            title.pathParts(keepsEmpty: true).allSatisfy({ FileName.isPossible(String($0)) })
        else {
            sink.refuse(
                Failure(
                    .badResponse, "cannot store", at: "\(reference.text): \(Redaction.printable(blob.title ?? ""))",
                    because: "its title has an empty part, . or .., a backslash or a control character"))
            return nil
        }
        return entry(blob, title, isOwn: false)
    }

    private func entry(_ blob: Descriptor, _ path: String, isOwn: Bool) -> CollectionEntry {
        var entry = CollectionEntry(
            path: path, address: reference.blob(blob.digest), size: blob.size, isExact: true,
            checksum: blob.digest.checksum.text)
        (entry.mediaType, entry.proof, entry.replaces) = (blob.type.isEmpty ? nil : blob.type, .digest, true)
        if isOwn { entry.place = path }
        return entry
    }
}
