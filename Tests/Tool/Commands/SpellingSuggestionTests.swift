import Testing

@testable import PawlGet
@testable import PawlTerminal

@Suite struct SpellingSuggestionTests {
    @Test(arguments: [
        ("--conections", "connections"), ("--retrys", "retries"), ("--limti-rate", "limit-rate"), ("-user", "user"),
        ("--quite", "quiet"), ("--no-remote", "no-remote-time"),
    ]) func `a misspelt option gets the right suggestion`(word: String, meant: String) {
        #expect(spellingSuggestion(for: word, among: GetOptions.table.map(\.entry.long)) == meant)
    }

    @Test(arguments: ["--frobnicate", "-z", "--", "--qqqqqq"]) func `a word without a close match gets no suggestion`(
        word: String
    ) { #expect(spellingSuggestion(for: word, among: GetOptions.table.map(\.entry.long)) == nil) }
}
