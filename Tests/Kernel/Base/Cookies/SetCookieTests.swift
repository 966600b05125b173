import Testing

@testable import PawlBase

@Suite struct SetCookieTests {
    @Test(arguments: [
        ("a=1", "evil.example", true), ("a=1; Domain=evil.example", "evil.example", true),
        ("a=1; Domain=.Evil.Example", "www.evil.example", true), ("a=1; Domain=victim.example", "evil.example", false),
        ("a=1; Domain=evil.example", "notevil.example", false), ("a=1; Domain=www.evil.example", "evil.example", false),
        ("a=1; Domain=example", "evil.example", false), ("a=1; Domain=.", "evil.example", false),
        ("a=1; Domain=localhost", "localhost", true), ("a=1; Domain=0.0.1", "127.0.0.1", false),
        ("a=1; Domain=127.0.0.1", "127.0.0.1", true),
    ]) func `a response sets cookies for its own host and the domains above it`(
        field: String, host: String, mayBeSet: Bool
    ) throws { #expect(try #require(SetCookie(parsing: field)).maySet(from: host) == mayBeSet) }
}
