import Pawl
import PawlCore

// Failures in the terms of the command line: its options, and how to resume a download there.
extension Failure {
    var commandLineSentence: String { sentence(at: commandLinePlace, remedy: commandLineRemedy) }

    /// The sentence without the remedy, for a failure that is retried.
    var commandLineCause: String { sentence(at: commandLinePlace, remedy: "") }

    var commandLineRemedy: String {
        remedy.worded {
            $0.option
        } resume: {
            "run the same command again"
        }
    }

    /// A rejected option by its name on the command line.
    var commandLinePlace: String {
        // What a user gave as a file may be a URL.
        let place = place.contains("://") ? Redaction.text(place) : place
        guard let refused, place.hasPrefix(refused.title) else { return place }
        return refused.option + place.dropFirst(refused.title.count)
    }
}

extension Failure {
    /// The same with a remedy in the terms of the commands for the queue.
    var inQueue: Failure {
        var failure = self
        failure.remedy = Remedy(remedy.queueText)
        return failure
    }
}

extension Remedy {
    private static let changeable = Set(SetOptions.table.flatMap(\.entry.names))

    /// For a download of the service: `pawl set` changes its options.
    fileprivate var queueText: String {
        let text = worded {
            $0.option
        } resume: {
            "run 'pawl resume ID'"
        }
        let isChangeable = parts.contains { part in
            guard case .option(let id) = part else { return false }
            return Remedy.changeable.contains(String(id.option.dropFirst(2)))
        }
        return isChangeable ? "\(text) ('pawl set ID' changes options)" : text
    }
}

extension OptionID {
    /// The option on the command line that sets it.
    var option: String { "--" + (DownloadOption.option(of: self)?.name ?? "deny-private-addresses") }
}
