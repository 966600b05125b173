import PawlCore
import PawlEngine

// Changes to a download of the queue, whatever its state.
extension QueueKeeper {
    func change(_ id: QueueID, priority: Int) {
        edit(id) { $0.priority = priority }
        perform(machine.change(priority: priority, of: id))
        notify(id, .changed)
    }

    func change(_ id: QueueID, group: String) {
        edit(id) { $0.group = group }
        perform(machine.change(group: group.isEmpty ? nil : GroupID(group), of: id))
        notify(id, .changed)
    }

    /// Changes the options of an unfinished download: a limit applies at once, everything else requires a
    /// restart.
    ///
    /// A running download keeps its plan; the new one is made from the record.
    func change(_ record: QueueRecord, to options: DownloadOptions) throws(Failure) {
        let id = record.id
        let before = StoredOptions(text: record.options).options
        let job = try Job(source: record.sources[0], options: options, settingsCache: settingsCache)
        let mirrors = job.plan.sources.dropFirst().map(\.text)
        var after = options
        after.rateLimit = before.rateLimit
        after.attributes = before.attributes
        after.folder = before.folder
        after.mirrors = before.mirrors
        after.taskDescription = before.taskDescription
        let isOther = after != before || mirrors != Array(record.sources.dropFirst())
        guard isOther || options.rateLimit != before.rateLimit || options.attributes != before.attributes
        else { return }
        edit(id) { record in
            record.sources = [record.sources[0]] + mirrors
            record.change { $0.options = options }
            // The size of another range is not known.
            if options.range != before.range { record.total = nil }
        }
        if options.rateLimit != before.rateLimit { _ = try limit(id, to: options.rateLimit) }
        notify(id, .changed)
        if isOther { perform(machine.restart(id)) }
    }
}
