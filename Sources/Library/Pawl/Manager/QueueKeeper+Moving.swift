#if Queue
import PawlBase
import PawlDisk
import PawlEngine
import PawlJournal
import PawlQueue
import PawlStreams

/// A file of a finished download that gets another name, in its folder or another one.
struct FileMove: Sendable {
    let file: NamedFile
    var name: String

    var isRenaming: Bool { !name.hasSameBytes(as: file.name) }
}

// Other names and folders for the files of finished downloads: all of them, or none.
extension QueueKeeper {
    // MARK: names

    private static let renamingName = "renaming"

    /// Renames the files of a finished download: the intent is written first, so that a kill in between loses no file.
    func renameFiles(of record: QueueRecord, to name: String) throws(Failure) {
        try rename(try renamings(of: record, to: name), record)
    }

    /// The new names of its files, those of a stream with what they have behind the common part; throws where more than one
    /// is to be renamed and one cannot be.
    private func renamings(of record: QueueRecord, to name: String) throws(Failure) -> [FileMove] {
        let files = files(of: record)
        let names = StreamFile.names(files.map(\.name), renaming: name)
        let moves = zip(files, names).map { FileMove(file: $0, name: $1) }
        let folder = path(of: record)
        if moves.count > 1 { try check(moves.filter(\.isRenaming), of: record, in: folder, "cannot rename") }
        return moves
    }

    /// Throws unless each of the files is there and its new name is free.
    private func check(
        _ moves: [FileMove], of record: QueueRecord, in folder: String, _ what: String
    ) throws(Failure) {
        for move in moves {
            let path = path(of: move.file.name, record)
            switch ports.disk.presence(of: move.file.file, as: move.file.name, in: self.path(of: record)) {
            case .there: break
            case .missing: throw Failure(.renameFailed, what, at: path, because: "it does not exist")
            case .changed, .other: throw Failure.notTheFile(what, at: path)
            }
            if ports.disk.holds(move.name, in: folder) { throw Failure.exists("\(folder)/\(move.name)") }
        }
    }

    /// `replacing`: a file that has the name now makes way.
    private func rename(_ moves: [FileMove], _ record: QueueRecord, replacing: Bool = false) throws(Failure) {
        try writeIntent(moves, record.id)
        try renameOnDisk(moves, in: path(of: record), replacing: replacing)
        edit(record.id) { $0.take(moves) }
    }

    private func writeIntent(_ moves: [FileMove], _ id: QueueID) throws(Failure) {
        values[Self.renamingName] = Self.intent(moves, id)
        try writeAll()
        values[Self.renamingName] = ""
    }

    /// Renames all files, or none.
    private func renameOnDisk(_ moves: [FileMove], in folder: String, replacing: Bool = false) throws(Failure) {
        var done: [FileMove] = []
        do throws(Failure) {
            for move in moves where move.isRenaming {
                try ports.disk.rename(
                    move.file.name, to: move.name, in: folder, if: move.file.file, replacing: replacing)
                done.append(move)
            }
        } catch {
            for move in done.reversed() {
                try? ports.disk.rename(move.name, to: move.file.name, in: folder, if: move.file.file)
            }
            throw error
        }
    }

    /// `ID NAME`, then a line with the old and the new name of each further file.
    private static func intent(_ moves: [FileMove], _ id: QueueID) -> String {
        let further = moves.dropFirst().map { "\n\($0.file.name)\t\($0.name)" }
        return "\(id.text) \(moves.first?.name ?? "")" + further.joined()
    }

    /// Completes a renaming that a kill interrupted, and its record.
    func resumeRenaming() throws(Failure) {
        guard let text = try store.value(Self.renamingName) else { return }
        values[Self.renamingName] = ""
        // In bytes: a combining mark at the beginning of a name would join what is before it.
        func halves(_ text: String, _ mark: Character) -> (String, String)? {
            let parts = text.utf8.split(separator: mark.asciiValue ?? 0, maxSplits: 1).map { String(Substring($0)) }
            return parts.count == 2 ? (parts[0], parts[1]) : nil
        }
        let lines = text.utf8.split(separator: UInt8(ascii: "\n")).map { String(Substring($0)) }
        guard let (digits, first) = lines.first.flatMap({ halves($0, " ") }), let number = UInt64(digits, radix: 16),
            number != 0, let record = try record(QueueID(rawValue: number))
        else { return }
        let names = lines.dropFirst().compactMap { halves($0, "\t") }
        let folder = path(of: record)
        let moves = files(of: record).enumerated().compactMap { index, file -> FileMove? in
            let name = index == 0 ? first : names.first { $0.0.hasSameBytes(as: file.name) }?.1
            return name.map { FileMove(file: file, name: $0) }
        }
        func hasHappened(_ move: FileMove) -> Bool {
            ports.disk.presence(of: move.file.file, as: move.file.name, in: folder) != .there
                && ports.disk.presence(of: move.file.file, as: move.name, in: folder) == .there
        }
        let renamings = moves.filter(\.isRenaming)
        guard renamings.contains(where: hasHappened) else { return }
        for move in renamings where !hasHappened(move) {
            try? ports.disk.rename(move.file.name, to: move.name, in: folder, if: move.file.file)
        }
        let done = renamings.filter(hasHappened)
        for move in done { try ports.disk.sync(move.name, in: folder) }
        edit(record.id) { $0.take(done) }
    }

    /// Gives a file that has just been finished the name that the user wants, and further ones of a stream theirs.
    func rename(_ file: DownloadedFile, of record: QueueRecord, to name: String) throws(Failure) -> DownloadedFile {
        var record = record
        record.name = file.path.pathParts().last.map(String.init)
        record.total = file.length
        let moves = try renamings(of: record, to: name)
        // A single file is found under both names.
        if moves.count > 1 { try writeIntent(moves, record.id) }
        try renameOnDisk(moves, in: path(of: record))
        edit(record.id) { edited in
            edited.name = record.name
            edited.take(moves)
        }
        return self.file(file, movedTo: path(of: record), moves)
    }

    /// What is told of it, with its new paths.
    func file(_ file: DownloadedFile, movedTo folder: String, _ moves: [FileMove]) -> DownloadedFile {
        var file = file
        func moved(_ path: String) -> String {
            let name = path.pathParts().last.map(String.init) ?? ""
            return moves.first { $0.file.name.hasSameBytes(as: name) }.map { "\(folder)/\($0.name)" } ?? path
        }
        (file.path, file.others) = (moved(file.path), file.others.map(moved))
        return file
    }

    // MARK: folders

    /// Moves the files of a finished download to another folder of the root.
    ///
    /// They have both names until the new ones are stored: no kill leaves a record without its files.
    func relocate(_ id: QueueID, to folder: String) throws(Failure) -> Bool {
        let folder = try AddOrder.folder(folder)
        guard let record = try record(id), record.state != .removed else { return false }
        let moved = try record.placed(in: folder)
        try checkPlace(of: moved)
        guard !folder.hasSameBytes(as: record.folder) else { return true }
        guard record.state == .finished, record.name != nil else {
            throw Failure(
                .badOption, "cannot move", at: record.name ?? id.short,
                because: LocalizableMessage("not-finished", "it has not finished"),
                remedy: "move it when it has finished")
        }
        let moves = files(of: record).map { FileMove(file: $0, name: $0.name) }
        let new = path(of: moved)
        if moves.count > 1 {
            try check(moves.filter { !isLinked($0, in: new) }, of: record, in: new, "cannot move")
        }
        try move(moves, of: record, to: moved)
        return true
    }

    /// Moves a finished download where a rule wants it; the files that have its names there are treated as if it had begun
    /// there, except that nothing complete is discarded.
    ///
    /// Returns what was moved; throws if it stays where it is.
    func relocate(byRule record: QueueRecord, to folder: String) throws(Failure) -> [FileMove] {
        let moved = try record.placed(in: folder)
        try checkPlace(of: moved)
        let policy = StoredOptions(text: record.options).options.existingFile
        let (new, mayNumber) = (path(of: moved), policy != .skip && policy != .fail)
        let wanted = files(of: record).map { FileMove(file: $0, name: $0.name) }
        let moves = mayNumber ? wanted.map { numbered($0, in: new) } : wanted
        if !mayNumber { try check(wanted.filter { !isLinked($0, in: new) }, of: record, in: new, "cannot move") }
        try move(moves, of: record, to: moved)
        guard policy == .overwrite, moves.contains(where: \.isRenaming), let there = try self.record(record.id) else {
            return moves
        }
        let back = zip(files(of: there), wanted).map { FileMove(file: $0, name: $1.name) }
        // What cannot be replaced stays, as does the number.
        do throws(Failure) { try rename(back, there, replacing: true) } catch {
            notify(record.id, .notice(DownloadNotice(LocalizableMessage(error))))
            return moves
        }
        return wanted
    }

    /// With the first number that is free in the folder, if the name is taken.
    private func numbered(_ move: FileMove, in folder: String) -> FileMove {
        var move = move
        for number in 0..<Self.mostNumbers {
            move.name = number == 0 ? move.file.name : FileName.numbered(move.file.name, number)
            let isFree = !ports.disk.holds(move.name, in: folder) && !ports.disk.holdsPart(of: move.name, in: folder)
            if isFree || isLinked(move, in: folder) { break }
        }
        return move
    }

    private static let mostNumbers = 1000

    /// Whether a kill has left the new name.
    private func isLinked(_ move: FileMove, in folder: String) -> Bool {
        guard let found = ports.disk.stamp(of: move.name, in: folder) else { return false }
        return move.file.file.stamp?.isSameFile(as: found) == true
    }

    private func move(_ moves: [FileMove], of record: QueueRecord, to place: QueueRecord) throws(Failure) {
        let (old, new, disk) = (path(of: record), path(of: place), ports.disk)
        values[Self.movingName] = Self.intent(moves, of: record, to: place.folder)
        try writeAll()
        var done: [FileMove] = []
        func takeBack() {
            values[Self.movingName] = ""
            for move in done.reversed() {
                if disk.presence(of: move.file.file, as: move.file.name, in: old) != .there {
                    try? disk.link(move.name, from: new, as: move.file.name, to: old, if: move.file.file)
                }
                try? disk.remove(move.name, in: new, if: move.file.file)
            }
        }
        do throws(Failure) {
            for move in moves {
                if !isLinked(move, in: new) {
                    try disk.link(move.file.name, from: old, as: move.name, to: new, if: move.file.file)
                }
                done.append(move)
            }
        } catch {
            takeBack()
            throw error
        }
        var moved = place
        moved.take(moves)
        notePlace(of: &moved)
        put(moved)
        do throws(Failure) { try writeAll() } catch {
            // The record keeps the old folder.
            put(record)
            takeBack()
            throw error
        }
        for move in moves { try? disk.remove(move.file.name, in: old, if: move.file.file) }
        disk.syncNames(in: old)
        values[Self.movingName] = ""
        notify(record.id, .changed)
    }

    private static let movingName = "moving"

    /// What a move is to do: after a kill its files have both names.
    private static func intent(_ moves: [FileMove], of record: QueueRecord, to folder: String) -> String {
        let names = moves.map { JSON.array([.string($0.file.name), .string($0.name)]) }
        return JSON.object([
            .init("id", .string(record.id.text)), .init("from", .string(record.folder)),
            .init("to", .string(folder)), .init("names", .array(names)),
        ]).text
    }

    /// Removes one of the two names that files have after a kill interrupted their move: the one that the record does not have.
    func resumeMove() throws(Failure) {
        guard let text = try store.value(Self.movingName) else { return }
        values[Self.movingName] = ""
        guard let intent = try? JSON.parse(text), let id = intent["id"]?.string.flatMap({ UInt64($0, radix: 16) }),
            id != 0, let record = try record(QueueID(rawValue: id)), let from = intent["from"]?.string,
            let to = intent["to"]?.string, let names = intent["names"]?.array
        else { return }
        let isMoved = record.folder.hasSameBytes(as: to)
        var other = record
        other.folder = isMoved ? from : to
        let folder = path(of: other)
        for (file, names) in zip(files(of: record), names.compactMap(\.array)) where names.count == 2 {
            guard let name = names[isMoved ? 0 : 1].string,
                ports.disk.presence(of: file.file, as: file.name, in: path(of: record)) == .there
            else { continue }
            try? ports.disk.remove(name, in: folder, if: file.file)
        }
        ports.disk.syncNames(in: folder)
    }
}

extension QueueRecord {
    /// Its files have these names.
    fileprivate mutating func take(_ moves: [FileMove]) {
        let own = name ?? ""
        if let move = moves.first(where: { $0.file.name.hasSameBytes(as: own) }) { name = move.name }
        change { stored in
            for index in stored.parts.indices {
                let move = moves.first { $0.file.name.hasSameBytes(as: stored.parts[index].name) }
                if let move { stored.parts[index].name = move.name }
            }
        }
    }

    /// The user, or a rule, has chosen its folder.
    fileprivate func placed(in folder: String) throws(Failure) -> QueueRecord {
        var placed = self
        placed.folder = try AddOrder.folder(folder)
        placed.change { $0.followsRules = false }
        return placed
    }
}
#endif
