import Pawl
import PawlBase
import PawlWeb

// Where new downloads go, and what happens when the last one has ended.
extension ServiceMethods {
    /// `[]`: the rules in their order.
    func rules() async throws -> JSON {
        .array(try await manager.folderRules().map { ["match": .string($0.text), "folder": .string($0.folder)] })
    }

    /// `[[{match, folder}, …]]`: replaces the rules.
    func setRules(_ given: RPCParameters) async throws -> JSON {
        try await manager.perform(.rules(try Self.rules(given.list(0))))
        return .bool(true)
    }

    /// `[URL, [{match, folder}, …] or null]`: the rule that gives a new download its folder.
    func testRules(_ given: RPCParameters) async throws -> JSON {
        let source = try ServiceMethods.word(0, "a URL", of: given)
        let others = try given.optionalList(1).map(Self.rules)
        let rules = if let others { others } else { try await manager.folderRules() }
        let index: Int?
        do throws(Failure) { index = try FolderRules(rules).index(for: source) } catch { throw PawlError(error) }
        guard let index else { return .null }
        let rule = rules[index]
        return ["index": .number(index), "match": .string(rule.text), "folder": .string(rule.folder)]
    }

    private static func rules(_ objects: [JSON]) throws -> [FolderRule] {
        try objects.map { object in
            let fields = try RPCFields(object, named: ["match", "folder"])
            guard let match = try fields.text("match"), let folder = try fields.text("folder") else {
                throw RPCError.invalid("a rule needs match and folder")
            }
            do throws(Failure) { return try FolderRule(match, folder: folder) } catch { throw PawlError(error) }
        }
    }

    /// `[WORD]`: what happens at the end.
    func setAtEnd(_ given: RPCParameters) async throws -> JSON {
        guard let action = AtEnd.Action(rawValue: try given.text(0)) else {
            throw RPCError.invalid("the action at the end must be nothing or command")
        }
        try await atEnd.change(to: action, in: manager)
        return .bool(true)
    }
}
