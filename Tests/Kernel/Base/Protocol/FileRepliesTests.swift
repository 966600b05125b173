import Testing

@testable import PawlBase

/// What the replies of an FTP server prove about the file.
@Suite struct FileRepliesTests {
    private func replies(_ lines: String..., start: Int64 = 0) -> FileReplies {
        var replies = FileReplies(start: start)
        for line in lines { replies.note(Array((line + "\r\n").utf8)) }
        return replies
    }

    @Test func `more data than SIZE reported is another version`() {
        var file = replies("213 20230102100000", "213 100", "150 Opening data connection")
        #expect(file.length == 100)
        let begins = file.fits(60)
        file.took(60)
        let ends = file.fits(40)
        let exceeds = !file.fits(41)
        #expect(begins && ends && exceeds)
        #expect(file.contradiction?.description == "the server sent more than the 100 bytes that it had reported")
    }

    @Test(arguments: [(100, 100), (30, 100), (40, nil)] as [(Int64, Int64?)])
    func `without SIZE the count at an offset shows the length only if it is the known one`(
        count: Int64, length: Int64?
    ) {
        var replies = FileReplies(start: 70, known: 100)
        replies.note(Array("150 Opening (\(count) bytes)\r\n".utf8))
        #expect(replies.length == length && replies.contradiction == nil)
    }

    @Test func `after an offset only the rest fits`() {
        var file = replies("213 100", start: 70)
        let fits = file.fits(30)
        let exceeds = !file.fits(31)
        #expect(fits && exceeds && !file.isBeyondEnd)
        #expect(replies("213 100", start: 100).isBeyondEnd)
        #expect(replies("213 0", start: 1).isBeyondEnd)
        #expect(!replies(start: 100).isBeyondEnd)
    }

    @Test(arguments: ["150 Opening BINARY mode data connection for f (200 bytes).", "125 f (200 bytes)"])
    func `another count at the beginning of the transfer is another version`(reply: String) {
        #expect(replies("213 100", reply).contradiction != nil)
        // Some servers count the whole file, others what follows the offset.
        #expect(replies("213 200", reply, start: 50).contradiction == nil)
        #expect(replies("213 250", reply, start: 50).contradiction == nil)
        #expect(replies("213 260", reply, start: 50).contradiction != nil)
        // Without SIZE it is the length.
        #expect(replies("500 SIZE?", reply).length == 200)
        #expect(replies(reply, start: 50).length == nil)
    }

    @Test func `another length or time after the transfer is another version`() {
        #expect(replies("213 100", "226 done", "213 100").contradiction == nil)
        #expect(replies("213 100", "226 done", "213 101").contradiction != nil)
        let before = "213 20230102100000"
        #expect(replies(before, "213 100", "226 done", "213 100", before).contradiction == nil)
        #expect(replies(before, "213 100", "226 done", "213 100", "213 20230102100001").contradiction != nil)
    }

    @Test(arguments: [
        "213", "213 ", "213 -5", "213 x", "213 99999999999999999999", "150 (x bytes)", "150 (5 bits)", "150 (", "150",
        "150 f (99999999999999999999 bytes)", "220 100",
    ]) func `anything else says nothing`(line: String) { #expect(replies(line) == FileReplies(start: 0)) }

    @Test func `SIZE 0 of a file that is sent nevertheless is no length`() {
        var file = replies("213 0")
        let fits = file.fits(10)
        #expect(file.length == nil && fits)
    }
}
