#if Queue
import PawlBase
import PawlCore
import PawlEngine
import PawlJournal
import PawlQueue
import PawlSystem

// A file that has a download's name already, compared with the known digests before anything is requested.
extension QueueKeeper {
    /// Begins the comparison; `false` where it was not requested, or there is no file or no digest.
    func beginCheck(of record: QueueRecord, _ job: Job) -> Bool {
        guard StoredOptions(text: record.options).checksExistingFile, record.name == nil else { return false }
        let name =
            job.fileName
            ?? NamingPolicy.choose(
                .url, address: job.plan.sources[0], head: nil, given: job.plan.sources, charsets: ports.charsets)
        let (digests, folder) = (FileCheckOrder.given(job.plan), path(of: record))
        guard !digests.isEmpty || job.plan.pieces != nil, let length = ports.disk.length(of: name, in: folder) else {
            return false
        }
        let fitting = job.plan.pieces?.fits(length) == true ? length : nil
        let order = FileCheckOrder(
            folder: folder, name: name, source: record.sources[0], digests: digests, pieces: job.plan.pieces,
            total: job.plan.length ?? fitting)
        let (id, check) = (record.id, RunningCheck(total: order.total ?? length, of: name))
        checks[id] = check
        show(record)
        notify(id, .state(.verifying))
        SystemThread.detached("pawl-check", blocksSignals: true) { [weak thread] in
            let result = Result { () throws(Failure) -> ExistingFile in
                let (found, right) = try order.run { check.note($0) }
                if found.isRight { return .right(length: try FileDigests(order.path).length) }
                return .wrong(found.stamp, isSeeded: try order.seed(right))
            }
            thread?.post { $0.checked(id, check, order, result) }
        }
        return true
    }

    /// `check` tells whether it is still wanted.
    private func checked(
        _ id: QueueID, _ check: RunningCheck, _ order: FileCheckOrder, _ result: Result<ExistingFile, Failure>
    ) {
        guard checks[id] === check, closing.isEmpty else { return }
        checks[id] = nil
        switch result {
        case .success(.right(let length)):
            let stamp = ports.disk.stamp(of: order.name, in: order.folder)
            edit(id) { record in
                record.change { stored in
                    stored.checksExistingFile = false
                    stored.finished = stamp
                }
            }
            let file = DownloadedFile(
                path: order.path, length: length, received: 0, wasThere: true,
                verification: order.digests.first ?? order.pieces.map { FileVerification(pieces: $0) })
            end(id, .success(file))
        case .success(.wrong(let stamp, let isSeeded)):
            edit(id) { record in
                record.change { stored in
                    stored.checksExistingFile = false
                    stored.options.existingFile = .overwrite
                    stored.options.fileName = order.name
                    stored.isSeeded = isSeeded
                    stored.replaced = stamp
                    stored.replacedIsWrong = true
                }
            }
            let text = LocalizableMessage(
                "existing-file-wrong", "the file \(order.name) does not have its digests: fetching what is wrong")
            notify(id, .notice(DownloadNotice(text)))
            begin(id)
        case .failure(let failure): end(id, .failure(failure))
        }
    }
}

extension DownloadSnapshot {
    /// The file of its name is compared before anything is requested.
    mutating func note(_ check: RunningCheck) { (state, total, name) = (.verifying, check.total, name ?? check.name) }
}

/// What the comparison of an existing file found.
private enum ExistingFile: Sendable {
    case right(length: Int64)
    /// `isSeeded`: a part file begins with its right pieces.
    case wrong(FileStamp?, isSeeded: Bool)
}
#endif
