import Glibc
import PawlBase
import PawlSystem
import Synchronization

/// A transactional outbox: a file of events that hooks or the webhook have not received yet, for at-least-once delivery
/// whatever ends the service.
///
/// One line per event, and one per delivery. The page cache survives the process, so nothing is synced: after a power
/// cut the queue knows which downloads ended.
final class Outbox: Sendable {
    enum Recipient: String, CaseIterable {
        case program
        case webhook
    }

    struct Entry: Sendable {
        let number: Int64
        /// The body for the webhook.
        let message: JSON
        var pending: Set<Recipient>
    }

    private struct State {
        var descriptor: Int32 = -1
        var size = 0
        /// The file is rewritten when it would be longer.
        var most = Outbox.limit
        var last: Int64 = 0
        var entries: [Int64: Entry] = [:]
        var ended: DeliveryMark
        /// The file could not be read: it stays as it is, for the next start, and this run records nothing.
        var isUnreadable = false
    }

    private let path: String
    private let log: ServiceLog?
    /// The lock keeps the lines of several threads apart.
    private let state: Mutex<State>

    /// A file up to this size is not rewritten, with the undelivered events only.
    static let limit = 256 * 1024

    /// `now` in Unix time: downloads that ended before the file was created are ignored.
    init(path: String, now: Int64, log: ServiceLog?) {
        self.path = path
        self.log = log
        var state = State(ended: DeliveryMark(at: now))
        do throws(Failure) { for line in try Outbox.lines(of: path) { Outbox.take(line, into: &state) } } catch {
            state.isUnreadable = true
            var failure = error
            failure.remedy =
                "hooks and webhook deliveries of an earlier run follow at the next start at which it can be read"
            log?.note(failure)
        }
        self.state = Mutex(state)
        // Immediately, so that it is known later which downloads had ended before.
        note(self.state.withLock { rewrite(&$0) })
    }

    deinit { state.withLock { if $0.descriptor >= 0 { close($0.descriptor) } } }

    /// Events that were not delivered when the service last ended, oldest first.
    var undelivered: [Entry] { state.withLock { $0.entries.values.sorted { $0.number < $1.number } } }

    /// The last ends that were recorded.
    var ended: DeliveryMark { state.withLock(\.ended) }

    /// Records an event before it is delivered.
    func add(_ message: JSON, pending: Set<Recipient>) -> Entry {
        let (entry, failure) = state.withLock { state -> (Entry, Failure?) in
            state.last += 1
            let entry = Entry(number: state.last, message: message, pending: pending)
            let isEnd = state.ended.note(message)
            guard !pending.isEmpty else { return (entry, isEnd ? append(state.ended.line, &state) : nil) }
            state.entries[entry.number] = entry
            return (entry, append(Outbox.line(entry), &state))
        }
        note(failure)
        return entry
    }

    /// Records that the delivery to `recipient` has succeeded, or is no longer tried.
    func settle(_ number: Int64, for recipient: Recipient) {
        note(
            state.withLock { state in
                guard state.entries[number]?.pending.remove(recipient) != nil else { return nil }
                if state.entries[number]?.pending.isEmpty == true { state.entries[number] = nil }
                let line: JSON = ["number": .number(number), "delivered": .string(recipient.rawValue)]
                return append(line, &state)
            })
    }

    private func note(_ failure: Failure?) { if let failure { log?.note(failure) } }
}

// The file: one JSON value per line. Version 0.1.0 wrote `letter`, `owed` and `heard` for `message`, `pending` and
// `delivered`.
extension Outbox {
    private static func line(_ entry: Entry) -> JSON {
        [
            "number": .number(entry.number), "message": entry.message,
            "pending": .array(entry.pending.map { .string($0.rawValue) }),
        ]
    }

    private static func take(_ line: JSON, into state: inout State) {
        if let mark = DeliveryMark(line) {
            state.ended = mark
        } else if let number = line["number"]?.integer {
            if let message = line["message"] ?? line["letter"] {
                let pending = ((line["pending"] ?? line["owed"])?.array ?? []).compactMap {
                    $0.string.flatMap(Recipient.init)
                }
                state.last = max(state.last, number)
                _ = state.ended.note(message)
                state.entries[number] = Entry(number: number, message: message, pending: Set(pending))
            } else if let listener = (line["delivered"] ?? line["heard"])?.string.flatMap(Recipient.init) {
                state.entries[number]?.pending.remove(listener)
            }
            if state.entries[number]?.pending.isEmpty == true { state.entries[number] = nil }
        }
    }

    /// The lines that can be parsed: a kill may have truncated the last one.
    private static func lines(of path: String) throws(Failure) -> [JSON] {
        let bytes = try AtomicFile.read(path, atMost: .max - 1) ?? []
        return bytes.split(separator: UInt8(ascii: "\n")).compactMap { try? JSON.parse(Array($0)) }
    }

    private func append(_ line: JSON, _ state: inout State) -> Failure? {
        guard !state.isUnreadable else { return nil }
        let bytes = line.utf8 + [UInt8(ascii: "\n")]
        state.size += bytes.count
        guard state.size <= state.most else { return rewrite(&state) }
        do throws(SystemError) { try WholeWrite.perform(bytes, to: state.descriptor) } catch {
            // A partial line may have been written, which would corrupt the next one.
            state.most = 0
            return failure(error)
        }
        return nil
    }

    private func rewrite(_ state: inout State) -> Failure? {
        guard !state.isUnreadable else { return nil }
        let entries = state.entries.values.sorted { $0.number < $1.number }
        let bytes = ([state.ended.line] + entries.map(Outbox.line)).flatMap { $0.utf8 + [UInt8(ascii: "\n")] }
        do throws(Failure) { try AtomicFile.replace(path, with: bytes) } catch { return error }
        if state.descriptor >= 0 { close(state.descriptor) }
        state.descriptor = unsafe open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW)
        // The undelivered events alone may exceed the limit: the file doubles before it is rewritten again.
        (state.size, state.most) = (bytes.count, max(Outbox.limit, 2 * bytes.count))
        return state.descriptor >= 0 ? nil : failure(.last)
    }

    private func failure(_ error: SystemError) -> Failure {
        Failure(.inputOutput, "cannot record for later delivery", at: path, because: error.text)
    }

    /// Removes the file: there are no recipients, and events from now on are not to be delivered later.
    static func remove(at path: String) { _ = unsafe unlink(path) }
}

/// Which ends of downloads were recorded: all before a second, and some within it.
///
/// Ends come in the order of their seconds: the queue's thread notes the time of one after another and sends their events,
/// which one task receives. Only a clock that was set back breaks it: an end of an earlier second is delivered as any
/// other, and lost if the process is killed between the queue's record and this one.
struct DeliveryMark: Hashable, Sendable {
    private(set) var at: Int64
    private(set) var ids: Set<String> = []

    init(at second: Int64) { at = second }

    /// Parses the format of ``line``.
    init?(_ line: JSON) {
        guard let second = line["ended"]?.integer, let ids = line["ids"]?.array else { return nil }
        at = second
        self.ids = Set(ids.compactMap(\.string))
    }

    var line: JSON { ["ended": .number(at), "ids": .array(ids.sorted().map { .string($0) })] }

    /// Whether the event is an end that counts.
    mutating func note(_ message: JSON) -> Bool {
        guard let word = message["event"]?.string, let occasion = Hooks.Occasion(rawValue: word), occasion.isEnd,
            let id = message["id"]?.string, let second = message["download"]?["endedAt"]?.integer, second >= at
        else { return false }
        if second > at { (at, ids) = (second, []) }
        return ids.insert(id).inserted
    }

    func knows(_ id: String, at second: Int64) -> Bool { second < at || second == at && ids.contains(id) }
}
