import Testing

@testable import PawlBase
@testable import PawlCore

@Suite struct ServerAbilitiesTests {
    private let difference = LocalizableMessage("bytes-differ", "the bytes on disk differ from the server's")

    @Test func `ranges are given up for a difference, or without one`() {
        var server = ServerAbilities()
        #expect(server.rangesUsable && server.difference == nil)
        server.giveUpRanges(because: difference)
        server.giveUpRanges()
        #expect(!server.rangesUsable && server.difference == difference)
        server.useRangesAgain()
        #expect(server.rangesUsable && server.difference == nil)
        server.giveUpRanges()
        #expect(!server.rangesUsable && server.difference == nil)
    }

    @Test func `silence is a suspicion until the whole is sent`() {
        var server = ServerAbilities()
        #expect(!server.settleSuspicion() && server.rangesUsable)
        server.suspect(true)
        #expect(server.isSuspect && server.rangesUsable)
        #expect(server.settleSuspicion() && !server.rangesUsable && !server.isSuspect)
        server.suspect(true)
        server.suspect(false)
        #expect(server.settleSuspicion() == false)
    }

    @Test func `a range without an end is refused once`() {
        var server = ServerAbilities()
        #expect(server.openRangeRefused() && server.asksClosed && !server.openRangeRefused())
    }

    @Test func `a further run knows nothing but how crowded the host is`() {
        var server = ServerAbilities()
        server.giveUpRanges(because: difference)
        server.suspect(true)
        _ = server.openRangeRefused()
        server.isCrowded = true
        server.begin()
        #expect(server == ServerAbilities(isCrowded: true))
    }
}
