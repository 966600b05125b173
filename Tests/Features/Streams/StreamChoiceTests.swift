import PawlStreams
import Testing

@Suite struct StreamChoiceTests {
    private func chosen(_ quality: StreamChoice.Quality, _ variants: [(Int64, Int64, Int64)]) -> (Int, Bool)? {
        var choice = StreamChoice()
        choice.quality = quality
        let found = choice.variant(
            among: variants.map { StreamChoice.Variant(width: $0.0, height: $0.1, bandwidth: $0.2) })
        return found.map { ($0.index, $0.notice != nil) }
    }

    @Test(arguments: [
        ("best", StreamChoice.Quality.best), ("WORST", .worst), ("720p", .height(720)), ("720P", .height(720)),
        ("1080", .height(1080)), ("4999", .height(4999)), ("5000", .bitrate(5000)), ("2500k", .bitrate(2_500_000)),
        ("3M", .bitrate(3_000_000)), ("1k", .bitrate(1000)),
    ]) func `a quality is a height or a bitrate`(text: String, quality: StreamChoice.Quality) {
        #expect(StreamChoice.Quality(parsing: text) == quality)
        #expect(StreamChoice.Quality(parsing: quality.text) == quality)
    }

    @Test(arguments: ["", "0", "p", "-1", "720i", "720pp", "1.5M", "99999999999999999999", "1000000001k", "best "])
    func `any other quality is refused`(text: String) {
        #expect(StreamChoice.Quality(parsing: text) == nil)
    }

    @Test func `the best has the highest resolution, then the highest bandwidth`() throws {
        let variants: [(Int64, Int64, Int64)] = [
            (0, 0, 9_000_000), (640, 360, 800_000), (1280, 720, 2_000_000), (1280, 720, 3_000_000),
            (1280, 720, 3_000_000),
        ]
        #expect(try #require(chosen(.best, variants)) == (3, false))
        #expect(try #require(chosen(.worst, variants)) == (1, false))
        #expect(chosen(.best, []) == nil)
    }

    @Test func `a height that is missing becomes the next lower, and is told`() throws {
        let variants: [(Int64, Int64, Int64)] = [(1920, 1080, 5), (854, 480, 2), (854, 480, 3), (640, 360, 1)]
        #expect(try #require(chosen(.height(480), variants)) == (2, false))
        #expect(try #require(chosen(.height(720), variants)) == (2, true))
        #expect(try #require(chosen(.height(144), variants)) == (3, true))
        #expect(try #require(chosen(.height(2160), variants)) == (0, true))
        #expect(try #require(chosen(.height(720), [(0, 0, 1), (0, 0, 2)])) == (1, true))
    }

    @Test func `a bitrate is an upper limit`() throws {
        let variants: [(Int64, Int64, Int64)] = [(1920, 1080, 5_000_000), (1280, 720, 2_000_000), (640, 360, 900_000)]
        #expect(try #require(chosen(.bitrate(3_000_000), variants)) == (1, false))
        #expect(try #require(chosen(.bitrate(900_000), variants)) == (2, false))
        #expect(try #require(chosen(.bitrate(100_000), variants)) == (2, true))
    }

    @Test(arguments: [
        ("all", StreamChoice.Languages.all), ("None", .none), ("en", .only(["en"])),
        ("de-CH, en", .only(["de-ch", "en"])),
    ]) func `languages are a list, all or none`(text: String, languages: StreamChoice.Languages) {
        #expect(StreamChoice.Languages(parsing: text) == languages)
        #expect(languages.text.flatMap(StreamChoice.Languages.init(parsing:)) == languages)
    }

    @Test(arguments: ["", ",", "en,", "all,en", "en,none", "e_n", "abcdefghi", "en--us"])
    func `what is no language range is refused`(text: String) {
        #expect(StreamChoice.Languages(parsing: text) == nil)
    }

    @Test func `a language range matches its own tag and more special ones`() {
        #expect(StreamChoice.Languages.matches("en", "en-US"))
        #expect(StreamChoice.Languages.matches("en-us", "en-US"))
        #expect(!StreamChoice.Languages.matches("en-us", "en"))
        #expect(!StreamChoice.Languages.matches("en", "enx"))
    }

    @Test(arguments: [
        ("en", "eng"), ("eng", "en"), ("de", "ger"), ("deu", "de"), ("ger", "deu"), ("fre", "fr-CA"), ("fr", "FRA"),
        ("zho", "zh-Hant"), ("deu-ch", "de-CH"),
    ]) func `codes of two and of three letters are the same language`(range: String, tag: String) {
        #expect(StreamChoice.Languages.matches(range, tag))
        #expect(!StreamChoice.Languages.matches("it", tag) && !StreamChoice.Languages.matches("ita", tag))
    }

    @Test func `each language range takes one track, the usual one first`() {
        let tags = ["de", "en", "en-GB", nil, "fr"]
        #expect(StreamChoice.Languages.only(["fr", "en"]).tracks(among: tags, usual: 2) == ([4, 2], []))
        #expect(
            StreamChoice.Languages.only(["en", "en-gb", "it"]).tracks(among: tags, usual: nil) == ([1, 2], ["it"]))
        #expect(StreamChoice.Languages.only(["en-gb", "en"]).tracks(among: tags, usual: 2) == ([2], []))
        #expect(StreamChoice.Languages.usual.tracks(among: tags, usual: 3) == ([3], []))
        #expect(StreamChoice.Languages.usual.tracks(among: tags, usual: nil) == ([0], []))
        #expect(StreamChoice.Languages.all.tracks(among: tags, usual: nil) == ([0, 1, 2, 3, 4], []))
        #expect(StreamChoice.Languages.none.tracks(among: tags, usual: 1) == ([], []))
    }
}
