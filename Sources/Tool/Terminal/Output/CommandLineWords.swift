import Glibc
import Pawl
package import PawlBase

// Failures in the terms of the command line: its options, and how to resume a download there.
extension Failure {
    package var commandLineSentence: String { sentence(at: commandLinePlace, remedy: commandLineRemedy) }

    /// The sentence without the remedy, for a failure that is retried.
    package var commandLineCause: String { sentence(at: commandLinePlace, remedy: "") }

    package var commandLineRemedy: String { CommandTerms.running.text(of: remedy) }

    /// A rejected option by its name on the command line.
    package var commandLinePlace: String {
        // What a user gave as a file may be a URL.
        let place = place.contains("://") ? Redaction.text(place) : place
        guard let refused, place.hasPrefix(refused.title) else { return place }
        return CommandTerms.running.text(of: refused) + place.dropFirst(refused.title.count)
    }
}

extension OptionID {
    /// The option on the command line that sets it.
    package var option: String { "--" + (DownloadOption.option(of: self)?.name ?? "deny-private-addresses") }
}

/// Prints a failure as one line on standard error.
package func printFailure(_ failure: Failure) {
    printSentence("pawl: \(failure.commandLineSentence)")
}

/// Prints what the user should know, though nothing failed.
package func printNotice(_ text: String) {
    printSentence("pawl: \(text)")
}

private func printSentence(_ text: String) {
    var errors = OutputFile(descriptor: STDERR_FILENO)
    for line in TerminalState.folded(TerminalText.harmless(text), for: STDERR_FILENO) { errors.appendLine(line) }
    errors.flush()
}
