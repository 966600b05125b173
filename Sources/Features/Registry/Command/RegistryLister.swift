package import Pawl
package import PawlBase
package import PawlGet
import PawlIntake
import PawlRegistry

/// Lists the blobs of an image or artifact of a registry, into a layout or as files.
package struct RegistryLister: PlacedLister {
    package init() {}

    package func lists(_ item: GetPlan.Item, _ options: GetOptions) -> Bool {
        RegistryReference.scheme(of: item.source) != nil
    }

    package func list(
        _ item: GetPlan.Item, _ options: GetOptions, _ download: DownloadOptions
    ) throws(Failure) -> GetPlan.Placement {
        let reference = try RegistryReference(item.source)
        if options.output != nil {
            throw Failure(
                .badOption, "cannot use", at: "--output",
                because: "an image has several files; use --dir for their folder")
        }
        var choice = RegistryPull.Choice.one(.own)
        if options.platform == "all" {
            choice = .all
        } else if let text = options.platform {
            guard let platform = Platform(text) else {
                throw Failure(
                    .badOption, "cannot use", at: "--platform \(text)",
                    because: "it is not OS/ARCHITECTURE[/VARIANT] or 'all'")
            }
            choice = .one(platform)
        }
        let client = try RegistryClient(download, deniesPrivateAddresses: options.deniesPrivateAddresses)
        let pull = try RegistryPull(client, reference, choice)
        var found = GetPlan.Placement()
        found.refused = pull.refused
        if options.isArtifact {
            try Self.takeFiles(of: pull, reference, download.folder, into: &found)
        } else if reference.scheme == .ollama {
            guard let path = options.folder ?? OllamaFolder.usual else {
                throw Failure(
                    .badOption, "missing", at: "HOME", because: "Ollama's models are below it",
                    remedy: "set OLLAMA_MODELS, or give a folder with --dir")
            }
            let folder = OllamaFolder(at: path)
            for blob in pull.blobs {
                Self.take(blob, reference, folder.blobs, OllamaLayout.blob(blob.digest), into: &found)
            }
            found.completion = { () throws(Failure) in try folder.complete(pull, reference) }
        } else {
            let path = options.folder ?? reference.name.pathParts().last.map(String.init) ?? reference.name
            let folder = ImageFolder(at: path)
            for blob in pull.blobs where blob.digest != RegistryPull.empty.digest {
                Self.take(blob, reference, folder.folder(of: blob.digest), blob.digest.hex, into: &found)
            }
            // A digest names the image already.
            let tag = reference.tag ?? (reference.digest == nil ? RegistryReference.defaultTag : nil)
            // An image without a layer that it needs is not complete.
            if pull.refused.isEmpty {
                found.completion = { () throws(Failure) in try folder.complete(pull, tag: tag) }
            }
        }
        return found
    }

    /// The blobs with titles, under these.
    private static func takeFiles(
        of pull: RegistryPull, _ reference: RegistryReference, _ folder: String, into found: inout GetPlan.Placement
    ) throws(Failure) {
        let titled = pull.blobs.filter { $0.title != nil }
        guard !titled.isEmpty else {
            throw Failure(
                .badOption, "cannot use", at: "--artifact", because: "\(reference.text) has no blob with a title",
                remedy: "leave it out for a layout of the image")
        }
        for blob in titled {
            guard let title = blob.title, title.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F && $0 != .backslash }),
                title.pathParts(keepsEmpty: true).allSatisfy({ FileName.isPossible(String($0)) })
            else {
                found.refused.append(
                    Failure(
                        .badResponse, "cannot store", at: "\(reference.text): \(Redaction.printable(blob.title ?? ""))",
                        because: "its title has an empty part, . or .., a backslash or a control character"))
                continue
            }
            take(blob, reference, folder, title, into: &found)
        }
    }

    private static func take(
        _ blob: Descriptor, _ reference: RegistryReference, _ folder: String, _ name: String,
        into found: inout GetPlan.Placement
    ) {
        guard !PresentFile.has(blob.digest.checksum, length: blob.size, at: "\(folder)/\(name)") else {
            found.unchanged += 1
            return
        }
        let lines = [
            ("dir", folder), ("out", "./" + name), ("checksum", blob.digest.checksum.text), ("length", "\(blob.size)"),
            ("if-exists", "overwrite"),
        ]
        found.items.append(
            GetPlan.Item(
                source: reference.blob(blob.digest), mirrors: [],
                lines: lines.map { InputOption(name: $0.0, value: $0.1, line: 0) }))
    }

    package func checkUnused(_ options: GetOptions) throws(Failure) {
        guard options.isArtifact || options.platform != nil else { return }
        throw Failure(
            .badOption, "cannot use", at: options.isArtifact ? "--artifact" : "--platform",
            because: "it is for oci:// and docker:// only")
    }
}
