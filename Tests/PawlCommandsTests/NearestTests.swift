import Testing

@testable import PawlCommands

@Suite struct NearestTests {
    @Test(arguments: [
        ("--conections", "connections"), ("--retrys", "retries"), ("--limti-rate", "limit-rate"),
        ("-user", "user"), ("--quite", "quiet"), ("--no-remote", "no-remote-time"),
    ])
    func `a misspelt option finds the one that was meant`(word: String, meant: String) {
        #expect(nearest(to: word, among: GetOptions.table.map(\.entry.long)) == meant)
    }

    @Test(arguments: ["--frobnicate", "-z", "--", "--qqqqqq"])
    func `a word that is near nothing gets no suggestion`(word: String) {
        #expect(nearest(to: word, among: GetOptions.table.map(\.entry.long)) == nil)
    }
}
