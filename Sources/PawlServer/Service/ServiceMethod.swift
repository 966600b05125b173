import PawlCore

/// A method of Pawl's own: its reference, its access, and the code behind it. `Documentation/RPC.md` is made from the table.
struct ServiceMethod: Sendable {
    let name: String
    /// The array of parameters, with names in the places of values.
    let parameters: String
    let result: String
    let help: String
    /// An array of parameters.
    let example: String
    /// A caller who may only read may use it, and so may GET.
    var isReadOnly = false
    /// Its result can hold secrets, which never go into a script (JSONP).
    var tellsOptions = false
    let body: @Sendable (ServiceMethods, RPCParameters) async throws -> JSON

    private static let byName: [String: ServiceMethod] = Dictionary(
        uniqueKeysWithValues: table.map { ($0.name, $0) }
    )

    static func named(_ name: String) -> ServiceMethod? { byName[name] }
}
