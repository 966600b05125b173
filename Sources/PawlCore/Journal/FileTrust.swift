/// Who a process is to a file system.
package struct FileUser: Hashable, Sendable {
    package var user: UInt32
    package var group: UInt32

    package init(user: UInt32, group: UInt32) {
        self.user = user
        self.group = group
    }
}

/// What tells whether a part file or a journal that was found can be one's own.
///
/// In a folder that others may write to anybody can put files of these names there. Only one that nobody else can have
/// written to is gone on with.
package struct FileRights: Hashable, Sendable {
    package var owner: FileUser
    package var permissions: UInt32
    package var isRegular: Bool
    /// How many names it has.
    package var links: Int

    package init(owner: FileUser, permissions: UInt32, isRegular: Bool, links: Int) {
        self.owner = owner
        self.permissions = permissions
        self.isRegular = isRegular
        self.links = links
    }

    /// Why a file is nobody's to go on with.
    package enum Flaw: Hashable, Sendable {
        case notRegular
        case severalNames
        case otherOwner
        case writableByOthers
    }

    /// `nil` for one of `user`'s own.
    ///
    /// Without `knowsOwners` the file system gives all files the same owner and rights, which say nothing.
    package func flaw(for user: FileUser, knowsOwners: Bool) -> Flaw? {
        guard isRegular else { return .notRegular }
        guard links == 1 else { return .severalNames }
        guard knowsOwners else { return nil }
        guard owner.user == user.user else { return .otherOwner }
        return isWritableByOthers(than: user) ? .writableByOthers : nil
    }

    /// Whether somebody who is neither the owner nor of the user's own group may write.
    package func isWritableByOthers(than user: FileUser) -> Bool {
        permissions & 0o002 != 0 || permissions & 0o020 != 0 && owner.group != user.group
    }
}

extension FileRights.Flaw {
    package var words: String {
        switch self {
        case .notRegular: "it is no regular file"
        case .severalNames: "it has another name, by which it can be changed"
        case .otherOwner: "it belongs to another user"
        case .writableByOthers: "other users can write to it"
        }
    }
}
