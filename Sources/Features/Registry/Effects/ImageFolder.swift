import Glibc
package import PawlBase
import PawlDisk
import PawlSystem

/// A folder with images, which other tools read: what is written when the blobs are there.
package struct ImageFolder: Sendable {
    private let path: String

    package init(at path: String) { self.path = path }

    package func folder(of digest: RegistryDigest) -> String { "\(path)/\(ImageLayout.blob(digest).folder)" }

    /// Writes manifests and index, unless a blob is missing.
    ///
    /// The index is replaced last and at once, while no other run of Pawl does the same. Throws code 22 for an `index.json`
    /// that is none; it stays as it is.
    package func complete(_ pull: RegistryPull, tag: String?) throws(Failure) {
        if let empty = RegistryPull.empty.digest, pull.blobs.contains(where: { $0.digest == empty }) {
            try write(RegistryPull.empty.bytes, empty)
        }
        guard pull.blobs.allSatisfy(has) else { return }
        let (image, manifests) = pull.layoutForm()
        for manifest in manifests { try write(manifest.bytes, manifest.digest) }
        let folder = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw Failure.system(.cannotOpen, "cannot open", at: path, .last) }
        // Also ends the lock.
        defer { close(folder) }
        _ = retrying { flock(folder, LOCK_EX) }
        let index = "\(path)/\(ImageLayout.indexFile)"
        let present = try AtomicFile.read(index, atMost: ImageLayout.longestIndex)
        guard let next = ImageLayout.index(present, adding: image, tag: tag) else {
            throw Failure(
                .badResponse, "cannot change", at: index, because: "it is not the index of an image layout",
                remedy: "choose another folder")
        }
        try AtomicFile.replace("\(path)/\(ImageLayout.markFile)", with: ImageLayout.mark, permissions: 0o644)
        try AtomicFile.replace(index, with: next, permissions: 0o644)
    }

    private func has(_ blob: Descriptor) -> Bool { Self.has(blob, at: "\(folder(of: blob.digest))/\(blob.digest.hex)") }

    /// Whether the file is there with its length: what has its name was verified.
    static func has(_ blob: Descriptor, at path: String) -> Bool {
        var found = stat()
        return unsafe stat(path, &found) == 0 && found.st_mode & S_IFMT == S_IFREG && Int64(found.st_size) == blob.size
    }

    private func write(_ bytes: [UInt8], _ digest: RegistryDigest) throws(Failure) {
        try FolderPath.make(folder(of: digest))
        try AtomicFile.replace("\(folder(of: digest))/\(digest.hex)", with: bytes, permissions: 0o644)
    }
}

/// The folder in which Ollama keeps its models.
package struct OllamaFolder: Sendable {
    private let path: String

    package init(at path: String) { self.path = path }

    /// `$OLLAMA_MODELS`, else `~/.ollama/models`.
    package static var usual: String? {
        Environment.value("OLLAMA_MODELS") ?? Environment.home.map { "\($0)/.ollama/models" }
    }

    package var blobs: String { "\(path)/blobs" }

    /// Writes the manifest as it was received, unless a blob is missing.
    package func complete(_ pull: RegistryPull, _ reference: RegistryReference) throws(Failure) {
        let isWhole = pull.blobs.allSatisfy { ImageFolder.has($0, at: "\(blobs)/\(OllamaLayout.blob($0.digest))") }
        guard isWhole, let manifest = pull.manifests.last else { return }
        let file = "\(path)/\(OllamaLayout.manifest(reference))"
        try FolderPath.make(FolderPath.parent(of: file))
        try AtomicFile.replace(file, with: manifest.bytes, permissions: 0o644)
    }
}
