import PawlTestKit
import Testing

/// The core's messages are shown in Chinese to readers of Chinese.
@Suite struct PageWordsTests {
    private static let sources = FileSystem.folder(of: #filePath) + "/../../Sources"

    @Test func `every decision that can be reported has a translation in Chinese`() throws {
        let forms = ["Machines", "Resume"].flatMap { room in
            let folder = "\(Self.sources)/PawlCore/\(room)"
            return FileSystem.names(in: folder).flatMap { Self.forms(in: Self.text("\(folder)/\($0)")) }
        }
        #expect(Set(forms).count > 35)
        #expect(forms.contains("the server ignored Range and sent the whole file"))
        #expect(forms.contains("compared {} with {}: same content"))
        let chinese = Self.text("\(Self.sources)/PawlServer/Page/Assets/messages.zh.js")
        for form in forms where !chinese.contains("\n  \"\(form)\": \"") { Issue.record("\(form)") }
    }

    private static func text(_ path: String) -> String {
        String(decoding: FileSystem.contents(path) ?? [], as: UTF8.self)
    }

    /// Messages of the type `LocalizableMessage`, with `{}` for each value.
    private static func forms(in source: String) -> [String] {
        let opening =
            #/
            (?: \.notice\( | evidence:\s | \.unproven\( | \.page\( | [ .]changed\( | :\ LocalizableMessage\ = | ->\ LocalizableMessage\ \{
              | leaveOut\(index,\s | failTrial\(of:\s[^,]+,\s )
            \s* "
            /#
        return source.matches(of: opening).map { form(source[$0.range.upperBound...]) }
    }

    /// The text between the first and the last quotation mark.
    private static func form(_ source: Substring) -> String {
        var form = ""
        var depth = 0
        var isEscaped = false
        for character in source {
            switch (depth, character) {
            case (0, "\""): return form
            case (0, "\\"): isEscaped = true
            case (0, "(") where isEscaped:
                form += "{}"
                (depth, isEscaped) = (1, false)
            case (0, _): form.append(character)
            case (_, "("): depth += 1
            case (_, ")"): depth -= 1
            case (_, _): break
            }
        }
        return form
    }
}
