import PawlBase
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

    /// When a file is played whose forms are those of another one with the same letter.
    private func times(_ start: Int64, _ end: Int64, _ form: Character = "a") -> FragmentTimes {
        FragmentTimes(forms: [[Array("\(form)".utf8)]], start: start, end: end)
    }

    private func part(
        _ path: String, _ number: Int, _ duration: Int64, offset: Int64 = 0, _ content: StreamTrack.Content = .video,
        _ container: StreamTrack.Container? = .fragments
    ) -> RemuxPlan.Part {
        let input = RemuxPlan.Input(path: path, content: content, container: container)
        return RemuxPlan.Part(input, number: number, duration: duration, timestampOffset: offset)
    }

    @Test func `parts follow each other when all tracks of one have ended`() throws {
        // Sound of a Period has an offset of its own.
        let files = [
            part("a'1.mp4", 0, 1_500_000), part("a2.mp4", 1, 2_000_001), part("s1.m4a", 0, 1_480_000, .audio),
            part("s2.m4a", 1, 2_000_000, offset: -7_000_000, .audio), part("t.vtt", 0, 3_500_000, .subtitles, .webVTT),
        ]
        let found = [
            "a'1.mp4": times(0, 1_500_000), "a2.mp4": times(40_000, 1_000_000), "s1.m4a": times(20_000, 1_520_000, "s"),
            "s2.m4a": times(7_000_000, 8_000_000, "s"),
        ]
        let inputs = try [RemuxPlan.Input](files) { found[$0] }
        #expect(inputs.map(\.paths) == [["a'1.mp4", "a2.mp4"], ["s1.m4a", "s2.m4a"], ["t.vtt"]])
        #expect(inputs[0].durations == [1_560_000, 1_960_001] && inputs[0].delay == 0)
        #expect(inputs[1].durations == [1_500_000, 2_000_001] && inputs[1].delay == 20_000)
        let list =
            "ffconcat version 1.0\nfile 'file:a'\\''1.mp4'\nduration 1.560000\nfile 'file:a2.mp4'\nduration 1.960001\n"
        let words = plan(inputs)
        #expect(
            words.contains(
                "-protocol_whitelist file,data -format_whitelist concat,mov -f concat -safe 0 -auto_convert 0 -i data:text/plain;base64,"
                    + Base64.encode(Array(list.utf8))))
        #expect(words.contains("-itsoffset 0.020000 -protocol_whitelist file,data"))
    }

    @Test func `parts that need something else, or whose times are not known, are not joined`() throws {
        let files = [part("1", 0, 1), part("2", 1, 1)]
        func why(_ files: [RemuxPlan.Part], _ times: (String) -> FragmentTimes?) -> String? {
            do throws(StreamFlaw) { _ = try [RemuxPlan.Input](files, times: times) } catch { return error.why }
            return nil
        }
        #expect(why(files) { _ in times(0, 1) } == nil)
        #expect(why(files) { times(0, 1, $0.first ?? "-") }?.contains("codecs or the sizes change") == true)
        #expect(why(files) { $0 == "2" ? nil : times(0, 1) }?.contains("cannot be read") == true)
        #expect(why(files) { _ in times(0, 1 << 51) }?.contains("too far apart") == true)
        #expect(
            why(files + [part("3", 0, 1, .audio)]) { _ in times(0, 1) }?.contains("that of another does not") == true)
        #expect(why([part("1", 0, 1), part("a\n2", 1, 1)]) { _ in times(0, 1) }?.contains("too many") == true)
        let packed = [part("1", 0, 1, .audio, .packedAudio), part("2", 1, 1, .audio, .packedAudio)]
        #expect(why(packed) { _ in times(0, 1) } != nil)
    }

    @Test(arguments: [("de", "deu"), ("ger", "deu"), ("fr-CA", "fra"), ("zh", "zho"), ("xx", "und"), ("tlh", "tlh")])
    func `languages have three letters`(tag: String, code: String) { #expect(LanguageCodes.long(tag) == code) }
}
