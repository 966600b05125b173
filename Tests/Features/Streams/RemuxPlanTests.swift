import Testing

@testable import PawlStreams

/// The command that joins the files of a stream.
@Suite struct RemuxPlanTests {
    private func plan(_ inputs: [RemuxPlan.Input], _ container: RemuxPlan.Container = .mp4) -> String {
        RemuxPlan(inputs, to: "show.mp4.part", as: container).arguments.joined(separator: " ")
    }

    private let video = RemuxPlan.Input(path: "-v.ts", content: .video, container: .transportStream)
    private let audio = RemuxPlan.Input(
        path: "http://x/a.m4a", content: .audio, container: .fragments, language: "de-AT")
    private let text = RemuxPlan.Input(path: "t.vtt", content: .subtitles, container: .webVTT, language: "en")

    @Test func `each input is a file of its form, and the output is none of the names of the stream`() {
        let words = plan([video, audio])
        #expect(
            words.hasPrefix("-nostdin -hide_banner -loglevel error -y -protocol_whitelist file -f mpegts -i file:-v.ts")
        )
        #expect(words.contains("-protocol_whitelist file -f mov -i file:http://x/a.m4a"))
        #expect(words.contains("-map 0:v? -map 0:a? -map 1:a -c copy"))
        #expect(words.hasSuffix("-metadata:s:a:0 language=deu -f mp4 file:show.mp4.part"))
    }

    @Test func `subtitles become those of the form, and packed audio is recognized`() {
        #expect(plan([video, text]).contains("-map 1:s -c copy -c:s mov_text -metadata:s:s:0 language=eng -f mp4"))
        let packed = RemuxPlan.Input(path: "a.aac", content: .audio, container: .packedAudio, language: "tlh")
        let words = plan([video, packed, text], .mkv)
        #expect(words.contains("-format_whitelist matroska,webm,mov,mp4,mpegts,aac"))
        #expect(words.contains("-c:s subrip") && words.contains("language=tlh") && words.contains("-f matroska"))
    }

    @Test(arguments: [("de", "deu"), ("ger", "deu"), ("fr-CA", "fra"), ("zh", "zho"), ("xx", "und"), ("tlh", "tlh")])
    func `languages have three letters`(tag: String, code: String) { #expect(LanguageCodes.long(tag) == code) }
}
