import Glibc
import Pawl
import PawlBase
import PawlTerminal

/// `pawl get --dry-run`: what would be downloaded, as the servers say.
package struct DryRun {
    private let plan: GetPlan

    package init(_ plan: GetPlan) { self.plan = plan }

    /// Returns the exit code of the last failure.
    package func run() -> Int32 {
        var code: UInt8 = 0
        for item in plan.items {
            do throws(Failure) {
                var options = try plan.downloadOptions(for: item)
                if plan.options.readsNetrc, options.netrc == nil { options.netrc = NetrcPermission.usual() }
                try show(item, options)
            } catch {
                printFailure(error)
                code = error.code.rawValue
            }
        }
        return Int32(code)
    }

    private func show(_ item: GetPlan.Item, _ options: DownloadOptions) throws(Failure) {
        let isVerbose = plan.options.isVerbose
        let look = RemoteLook.look(at: item.source, options, of: plan.options) { trace in
            guard isVerbose else { return }
            var errors = OutputFile(descriptor: STDERR_FILENO)
            for line in TraceLines.lines(trace) { errors.appendLine(line) }
            errors.flush()
        }
        let found: RemoteLook.Found
        switch look {
        case .success(let result): found = result
        case .failure(let error): throw error.failure
        }
        let folder =
            options.folder == "." ? "" : options.folder + (options.folder.utf8.last == UInt8(ascii: "/") ? "" : "/")
        let path = plan.stream?.name ?? folder + found.name
        if plan.options.isJSON {
            var object = JSONObject()
            object.set("event", "found")
            object.set("url", Redaction.address(item.source))
            object.set("path", path)
            object.set("total", found.total)
            object.set("acceptsRanges", found.acceptsRanges)
            say(object.line + "\n")
        } else {
            let size = found.total.map(NumberFormat.size) ?? "size unknown"
            let ranges = found.acceptsRanges ? "can be resumed" : "may not be resumable"
            say(TerminalText.harmless("\(path): \(size), \(ranges), from \(Redaction.address(item.source))") + "\n")
        }
    }
}
