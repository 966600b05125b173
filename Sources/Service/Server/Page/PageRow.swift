import Pawl
import PawlBase

/// A download in the page's list: empty fields are omitted, since thousands are sent at once.
enum PageRow {
    /// `retry` is the failure that it waits for the next attempt after.
    static func json(_ snapshot: DownloadSnapshot, retry: JSON? = nil) -> JSON {
        guard case .object(let members) = ServiceJSON.json(snapshot) else { return .null }
        let telling = members.filter { member in
            switch member.value {
            // Nothing in all is known, which is more than an unknown total.
            case .number("0"): member.name == "total"
            case .null, .string(""): false
            case .bool, .number, .string, .array, .object: true
            }
        }
        return .object(
            telling + [
                JSON.Member("toggle", .string(snapshot.toggle.rawValue)),
                JSON.Member("position", ServiceJSON.decimal(snapshot.position, places: 6)),
            ] + (retry.map { [JSON.Member("retry", $0)] } ?? []))
    }
}
