import PawlBase
import PawlTerminal

/// The output of a command: a sentence, or JSON.
struct CommandOutput {
    private let isJSON: Bool

    init(_ options: VerbOptions) { isJSON = options.isJSON }

    func show(_ json: JSON, _ text: String) {
        let lines = text.split(separator: "\n").map { TerminalText.harmless(String($0)) }
        say((isJSON ? json.text : lines.joined(separator: "\n")) + "\n")
    }
}
