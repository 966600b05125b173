import PawlBase
import PawlCollections

/// One file with the layout of an image, a tar archive, as `oci-archive:` of other tools is.
///
/// It depends on the image and its tag alone, so that a file can be shown to be it.
struct ImageArchive: Hashable, Sendable {
    enum Content: Hashable, Sendable {
        case folder
        case bytes([UInt8])
        case blob(Descriptor)
    }

    struct Member: Hashable, Sendable {
        var name: String
        var content: Content

        var header: [UInt8] {
            content == .folder ? TarHeader.folder(name) : TarHeader.file(name, length: length)
        }

        var length: Int64 {
            switch content {
            case .folder: 0
            case .bytes(let bytes): Int64(bytes.count)
            case .blob(let blob): blob.size
            }
        }
    }

    private(set) var members: [Member] = []
    /// Without the end.
    private(set) var length: Int64 = 0

    /// `image` is what the index names.
    init(
        _ image: Descriptor, _ manifests: [(digest: RegistryDigest, bytes: [UInt8])], _ blobs: [Descriptor],
        tag: String?
    ) {
        add(ImageLayout.markFile, .bytes(ImageLayout.mark))
        add(ImageLayout.indexFile, .bytes(ImageLayout.index(nil, adding: image, tag: tag) ?? []))
        var folders: Set<String> = []
        var seen: Set<RegistryDigest> = []
        func put(_ digest: RegistryDigest, _ content: Content) {
            guard seen.insert(digest).inserted else { return }
            let (folder, name) = ImageLayout.blob(digest)
            for path in [String(folder.prefix { $0 != "/" }), folder] where folders.insert(path).inserted {
                add(path + "/", .folder)
            }
            add("\(folder)/\(name)", content)
        }
        for manifest in manifests.reversed() { put(manifest.digest, .bytes(manifest.bytes)) }
        for blob in blobs {
            put(blob.digest, blob.digest == RegistryPull.empty.digest ? .bytes(RegistryPull.empty.bytes) : .blob(blob))
        }
    }

    private mutating func add(_ name: String, _ content: Content) {
        let member = Member(name: name, content: content)
        members.append(member)
        length = length.addingClamped(Int64(member.header.count)).addingClamped(member.length)
            .addingClamped(Int64(TarHeader.padding(after: member.length).count))
    }

    var end: [UInt8] { TarHeader.end(after: length) }
}
