import Pawl
import PawlCore

/// A download as the page's list gets it: what says nothing is left out, since thousands come at once.
enum PageRow {
    static func json(_ snapshot: DownloadSnapshot) -> JSON {
        guard case .object(let members) = ServiceEvent.json(snapshot) else { return .null }
        let telling = members.filter { member in
            switch member.value {
            case .null, .number("0"), .string(""): false
            case .bool, .number, .string, .array, .object: true
            }
        }
        return .object(
            telling + [
                JSON.Member("toggle", .string(snapshot.toggle.rawValue)),
                JSON.Member("position", ServiceEvent.decimal(snapshot.position, places: 6)),
            ]
        )
    }
}
