import Glibc
import PawlBase
import PawlSystem
package import PawlTerminal

extension Command {
    package static let web = Command(
        "web", "[options]", summary: "open the service's web page in the browser",
        details: """
            Open the page with a link that logs in one browser. The link works once, within a minute. Without a desktop, \
            or with --print, print the link.
            """, taking: [VerbOptions.prints] + VerbOptions.common
    ) { (options, operands) throws(Failure) in
        if let first = operands.first { throw Failure.unexpected(first, in: "web") }
        let result = try options.client().call("pawl.web", to: "query")
        let link = result["url"]?.string ?? ""
        let isShown = options.prints || options.isJSON
        if !isShown, let opener = Desktop.opener { if try ChildProcess.run(opener, [link]) == 0 { return 0 } }
        CommandOutput(options).show(result, link)
        return 0
    }
}

/// The desktop session of this process.
private enum Desktop {
    /// The program that opens URLs; `nil` without a desktop.
    static var opener: String? {
        guard Environment.value("WAYLAND_DISPLAY") != nil || Environment.value("DISPLAY") != nil else { return nil }
        let folders = (Environment.value("PATH") ?? "").split(separator: ":")
        return folders.map { "\($0)/xdg-open" }.first { unsafe access($0, X_OK) == 0 }
    }
}
