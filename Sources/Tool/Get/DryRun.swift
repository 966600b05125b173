import Glibc
import Pawl
import PawlBase
import PawlCollections
import PawlTerminal

/// `pawl get --dry-run`: what would be downloaded, as the servers say.
package struct DryRun {
    private let plan: GetPlan

    package init(_ plan: GetPlan) { self.plan = plan }

    /// Returns the exit code of the last failure.
    package func run() -> Int32 {
        var code: UInt8 = 0
        for collection in plan.collections {
            let found = show(collection)
            if code == 0 { code = found }
        }
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

    /// What would be done with a collection; returns the code of its first failure.
    private func show(_ collection: GetPlan.Collection) -> UInt8 {
        var output = OutputFile(descriptor: STDOUT_FILENO)
        var code: UInt8 = 0
        var bytes: Int64 = 0
        let tally = collection.run().read { event in
            switch event {
            case .refused(let failure):
                printFailure(failure)
                if code == 0 { code = failure.code.rawValue }
            case .notice(let text): printNotice(text)
            case .entry(let planned):
                if planned.state.isFetched { bytes = bytes.addingClamped(planned.entry.size ?? 0) }
                if plan.options.isJSON {
                    var object = EntryText.object("found", planned.entry)
                    object.set("state", planned.state.word)
                    output.appendLine(object.line)
                } else if planned.state.isFetched {
                    let size = planned.entry.size.map(NumberFormat.size) ?? "size unknown"
                    output.appendLine(
                        TerminalText.harmless("\(planned.entry.path): \(size), \(planned.state.word)"))
                }
            }
            output.flush()
        }
        if !plan.options.isJSON {
            let fetched = tally.files - tally.unchanged
            say(
                "\(fetched) of \(tally.files) files would be downloaded, \(NumberFormat.size(bytes)); "
                    + "\(tally.unchanged) are there already, unchanged\n")
        }
        if let failure = tally.failure {
            printFailure(failure)
            if code == 0 { code = failure.code.rawValue }
        }
        return code
    }

    private func show(_ item: GetPlan.Item, _ options: DownloadOptions) throws(Failure) {
        if plan.mayBeStream(item), Downloader.namesStream(item.source),
            try StreamLines.show(item.source, options, plan.options)
        {
            return
        }
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
