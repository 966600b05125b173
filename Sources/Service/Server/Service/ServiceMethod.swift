import PawlBase
import PawlWeb

/// A `pawl.…` method: its reference, its access, and its implementation.
///
/// `Documentation/RPC.md` is generated from the table.
struct ServiceMethod: Sendable {
    let name: String
    /// The array of parameters, with names in the places of values.
    let parameters: String
    let result: String
    let help: String
    /// An array of parameters.
    let example: String
    /// It is available to read-only callers and by GET.
    var isReadOnly = false
    /// Its result can contain secrets, which are never sent in a script (JSONP).
    var returnsOptions = false
    let body: @Sendable (ServiceMethods, RPCParameters) async throws -> JSON

    /// The largest number of parameters: the elements of the array that ``parameters`` shows.
    var parameterCount: Int {
        var (depth, commas) = (0, 0)
        for character in parameters {
            switch character {
            case "[", "{": depth += 1
            case "]", "}": depth -= 1
            case "," where depth == 1: commas += 1
            default: break
            }
        }
        return parameters == "[]" ? 0 : commas + 1
    }

    private static let byName: [String: ServiceMethod] = Dictionary(uniqueKeysWithValues: table.map { ($0.name, $0) })

    static func named(_ name: String) -> ServiceMethod? { byName[name] }
}
