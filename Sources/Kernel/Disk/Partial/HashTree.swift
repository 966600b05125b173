import CCrypto

/// The root of a binary tree of SHA-256 digests (BEP 52), while the bytes of its leaves pass.
///
/// Used by one worker at a time.
@safe package final class HashTree {
    /// The bytes of a leaf.
    package static let leaf = 16 << 10

    private let context: OpaquePointer
    /// The bytes of the last leaf so far.
    private var filled = 0
    private var leaves = 0
    /// The leaves of the tree if it is greater than its bytes need.
    private var wanted = 0
    /// The root of the last complete subtree of each height that has no right neighbour yet.
    private var roots: [[UInt8]?] = []

    init() {
        guard let context = unsafe EVP_MD_CTX_new() else { preconditionFailure("out of memory for a digest") }
        unsafe self.context = context
        begin()
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    private func begin() {
        let began = unsafe EVP_DigestInit_ex(context, EVP_sha256(), nil)
        precondition(began == 1, "libcrypto does not have SHA-256")
    }

    private func digest() -> [UInt8] {
        let digest = unsafe [UInt8](unsafeUninitializedCapacity: 32) { digest, count in
            unsafe EVP_DigestFinal_ex(context, digest.baseAddress, nil)
            count = 32
        }
        begin()
        return digest
    }

    func feed(_ bytes: UnsafeRawBufferPointer) {
        var rest = unsafe bytes[...]
        while unsafe !rest.isEmpty {
            let part = unsafe UnsafeRawBufferPointer(rebasing: rest.prefix(Self.leaf - filled))
            unsafe EVP_DigestUpdate(context, part.baseAddress, part.count)
            filled += part.count
            unsafe rest = rest.dropFirst(part.count)
            if filled == Self.leaf { endLeaf() }
        }
    }

    /// Leaves for so many bytes more belong to the tree, with digests of zeros.
    func pad(_ count: Int64) { wanted = (leaves * Self.leaf + filled + Int(count)) / Self.leaf }

    private func endLeaf() {
        (filled, leaves) = (0, leaves + 1)
        var (root, height) = (digest(), 0)
        while height < roots.count, let left = roots[height] {
            roots[height] = nil
            root = parent(left, root)
            height += 1
        }
        if height == roots.count { roots.append(nil) }
        roots[height] = root
    }

    private func parent(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        for side in [left, right] {
            unsafe side.withUnsafeBytes { _ = unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
        }
        return digest()
    }

    /// The root of a tree from the digests of its subtrees, one after another, each of which has so many leaves.
    package static func root(above layer: [UInt8], leaves: Int) -> [UInt8] {
        let tree = HashTree()
        var zeros = [UInt8](repeating: 0, count: 32)
        var size = 1
        while size < leaves {
            zeros = tree.parent(zeros, zeros)
            size *= 2
        }
        var row = layer
        while row.count > 32 {
            if row.count % 64 != 0 { row += zeros }
            var above: [UInt8] = []
            above.reserveCapacity(row.count / 2)
            for start in stride(from: 0, to: row.count, by: 64) {
                above += tree.parent(Array(row[start..<start + 32]), Array(row[start + 32..<start + 64]))
            }
            row = above
            zeros = tree.parent(zeros, zeros)
        }
        return row
    }

    /// The root: missing leaves up to a power of two have digests of zeros.
    func finish() -> [UInt8] {
        if filled > 0 || leaves == 0 { endLeaf() }
        var zeros = [UInt8](repeating: 0, count: 32)
        var root: [UInt8]?
        var (height, size) = (0, 1)
        while size < max(leaves, wanted) {
            let left = height < roots.count ? roots[height] : nil
            if let left { root = parent(left, root ?? zeros) } else if let right = root { root = parent(right, zeros) }
            zeros = parent(zeros, zeros)
            (height, size) = (height + 1, size * 2)
        }
        return root ?? roots[height] ?? []
    }
}
