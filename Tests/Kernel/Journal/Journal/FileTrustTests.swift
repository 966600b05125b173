import PawlJournal
import Testing

@Suite struct FileTrustTests {
    private let mine = FileUser(user: 1000, group: 1000)

    private func flaw(
        _ permissions: UInt32, owner: FileUser? = nil, isRegular: Bool = true, links: Int = 1, knowsOwners: Bool = true
    ) -> FileRights.Flaw? {
        FileRights(owner: owner ?? mine, permissions: permissions, isRegular: isRegular, links: links).flaw(
            for: mine, knowsOwners: knowsOwners)
    }

    @Test func `a user's own file that no one else can write to is trusted`() {
        for permissions: UInt32 in [0o600, 0o644, 0o664, 0o400, 0o755] { #expect(flaw(permissions) == nil) }
    }

    @Test func `any other file is not`() {
        #expect(flaw(0o600, owner: FileUser(user: 1001, group: 1000)) == .otherOwner)
        #expect(flaw(0o600, owner: FileUser(user: 0, group: 0)) == .otherOwner)
        for permissions: UInt32 in [0o666, 0o602, 0o606, 0o622] { #expect(flaw(permissions) == .writableByOthers) }
        #expect(flaw(0o664, owner: FileUser(user: 1000, group: 50)) == .writableByOthers)
        #expect(flaw(0o644, owner: FileUser(user: 1000, group: 50)) == nil)
        #expect(flaw(0o600, isRegular: false) == .notRegular)
        #expect(flaw(0o600, links: 2) == .severalNames)
        #expect(flaw(0o600, links: 0) == .severalNames)
    }

    @Test func `where all files have the same owner, ownership proves nothing`() {
        #expect(flaw(0o777, owner: FileUser(user: 0, group: 0), knowsOwners: false) == nil)
        #expect(flaw(0o600, isRegular: false, knowsOwners: false) == .notRegular)
        #expect(flaw(0o600, links: 2, knowsOwners: false) == .severalNames)
    }
}
