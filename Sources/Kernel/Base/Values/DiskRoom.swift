/// What a file system has room for at a moment, as it reports it: a quota does not show.
package struct DiskRoom: Hashable, Sendable {
    /// The number of its device.
    package var device: UInt64
    /// The bytes that are available to this user.
    package var bytes: Int64
    /// The files that can still be created; `nil` where that has no limit.
    package var files: Int64?
    package var isReadOnly: Bool

    package init(device: UInt64, bytes: Int64, files: Int64? = nil, isReadOnly: Bool = false) {
        (self.device, self.bytes, self.files, self.isReadOnly) = (device, bytes, files, isReadOnly)
    }

    /// Less than the smallest part file with its journal needs.
    private static let least: Int64 = 64 << 10

    /// Whether there is room for bytes, and for no further file.
    package var lacksFiles: Bool { files == 0 && bytes >= Self.least }

    /// Whether a download that still needs so many bytes may get further.
    package func mayHold(_ needed: Int64?) -> Bool {
        !isReadOnly && files != 0 && bytes >= max(needed ?? 0, Self.least)
    }
}
