import Testing

@testable import PawlCore

@Suite struct FileClaimTests {
    @Test func `bytes may be written once the place is claimed`() {
        var file = FileClaim()
        #expect(!file.isClaimed && !file.isInMemory)
        file.claimed()
        #expect(file.isClaimed && file.state == .claimed(.disk))
        file.begin()
        #expect(!file.isClaimed)
    }

    @Test func `memory is claimed anew, and is no existing file`() {
        var file = FileClaim()
        file.claimed()
        #expect(file.useMemory() && !file.isClaimed && file.isInMemory)
        file.claimed()
        #expect(file.isClaimed && file.isInMemory)
        file.claimed(existing: 5, isContinued: false)
        #expect(!file.useMemory() && !file.isInMemory && file.isClaimed)
    }

    @Test(arguments: [false, true]) func `what follows an existing file is requested once, while nothing is added`(
        isContinued: Bool
    ) {
        var file = FileClaim()
        #expect(!file.asksBehind(0) && file.existingLength == nil && !file.isOriginal)
        file.claimed(existing: 5, isContinued: isContinued)
        #expect(!file.asksBehind(6) && file.asksBehind(5) && !file.asksBehind(5))
        #expect(file.existingLength == 5 && file.isOriginal == !isContinued && file.isClaimed)
        file.claimed()
        #expect(file.existingLength == 5)
    }

    @Test func `a file that is kept is never written`() {
        var file = FileClaim()
        file.keep(length: 7)
        #expect(file.keptLength == 7 && !file.checksKept && !file.isClaimed && !file.isInMemory)
        file.checkKept()
        #expect(file.keptLength == 7 && file.checksKept && file.existingLength == nil)
        file.claimed()
        #expect(!file.isClaimed)
    }
}
