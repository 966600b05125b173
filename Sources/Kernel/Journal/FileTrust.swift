/// The identity of a process in file permissions.
package struct FileUser: Hashable, Sendable {
    package var user: UInt32
    package var group: UInt32

    package init(user: UInt32, group: UInt32) {
        self.user = user
        self.group = group
    }
}

/// The attributes that decide whether an existing part file or journal can be Pawl's own.
///
/// In a folder that others may write to anybody can create files of these names. Only one that no other user
/// can have written to is resumed.
package struct FileRights: Hashable, Sendable {
    package var owner: FileUser
    package var permissions: UInt32
    package var isRegular: Bool
    /// The number of hard links.
    package var links: Int

    package init(owner: FileUser, permissions: UInt32, isRegular: Bool, links: Int) {
        self.owner = owner
        self.permissions = permissions
        self.isRegular = isRegular
        self.links = links
    }

    /// Why an existing file cannot be resumed.
    package enum Flaw: Hashable, Sendable {
        case notRegular
        case severalNames
        case otherOwner
        case writableByOthers
    }

    /// `nil` for one of `user`'s own.
    ///
    /// Without `knowsOwners` the file system gives all files the same owner and permissions, which say
    /// nothing.
    package func flaw(for user: FileUser, knowsOwners: Bool) -> Flaw? {
        guard isRegular else { return .notRegular }
        guard links == 1 else { return .severalNames }
        guard knowsOwners else { return nil }
        guard owner.user == user.user else { return .otherOwner }
        return isWritableByOthers(than: user) ? .writableByOthers : nil
    }

    /// Whether a user who is neither the owner nor in the user's own group may write.
    package func isWritableByOthers(than user: FileUser) -> Bool {
        permissions & 0o002 != 0 || permissions & 0o020 != 0 && owner.group != user.group
    }
}

extension FileRights.Flaw {
    package var words: String {
        switch self {
        case .notRegular: "it is not a regular file"
        case .severalNames: "it has another hard link"
        case .otherOwner: "it belongs to another user"
        case .writableByOthers: "other users can write to it"
        }
    }
}
