import Glibc
import PawlCore
import PawlServer

extension Command {
    static let web = Command(
        "web",
        "[options]",
        summary: "opens the service's page in the browser",
        details: """
            Opens the page with a link that lets one browser in once, within a minute. Without a desktop, or with \
            --print, the link is printed.
            """,
        taking: [VerbOptions.prints] + VerbOptions.common
    ) { (options, operands) throws(Failure) in
        if let first = operands.first { throw Failure.unexpected(first, in: "web") }
        let answer = try options.client().call("pawl.web", to: "ask")
        let link = answer["url"]?.string ?? ""
        let isShown = options.prints || options.isJSON
        if !isShown, let opener = Desktop.opener {
            if try ChildProcess.run(opener, [link]) == 0 { return 0 }
        }
        CommandOutput(options).tell(answer, link)
        return 0
    }
}

/// The desktop that this program was started from.
private enum Desktop {
    /// The program that opens addresses; `nil` without a desktop.
    static var opener: String? {
        let screens = ["WAYLAND_DISPLAY", "DISPLAY"].compactMap(environmentVariable)
        guard screens.contains(where: { !$0.isEmpty }) else { return nil }
        let folders = (environmentVariable("PATH") ?? "").split(separator: ":")
        return folders.map { "\($0)/xdg-open" }.first { unsafe access($0, X_OK) == 0 }
    }
}
