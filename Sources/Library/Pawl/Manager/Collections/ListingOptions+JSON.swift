#if Queue
package import PawlBase
import PawlCollections

extension ListingOptions {
    /// As callers give them: an object, each member optional.
    ///
    /// `rules` are texts `+GLOB` and `-GLOB`. Throws code 28 for one that is unknown or invalid.
    package init(_ json: JSON) throws(Failure) {
        self.init()
        isRecursive = true
        guard let members = json.members else { throw Self.flaw("listing", "it must be an object") }
        for member in members where member.value != .null {
            guard take(member) else { throw Self.flaw("listing.\(member.name)", "there is no such value of a listing") }
        }
    }

    /// `false` if the name or the value is unknown.
    private mutating func take(_ member: JSON.Member) -> Bool {
        let value = member.value
        func flag(_ path: WritableKeyPath<ListingOptions, Bool>) -> Bool {
            guard let isOn = value.bool else { return false }
            self[keyPath: path] = isOn
            return true
        }
        func count(_ path: WritableKeyPath<ListingOptions, Int>) -> Bool {
            guard let number = value.integer.flatMap({ Int(exactly: $0) }), number >= 0 else { return false }
            self[keyPath: path] = number
            return true
        }
        switch member.name {
        case "recursive": return flag(\.isRecursive)
        case "robots": return flag(\.obeysRobots)
        case "links": return flag(\.followsLinks)
        case "artifact": return flag(\.isArtifact)
        case "maxEntries": return count(\.limits.entries)
        case "maxFolders": return count(\.limits.folders)
        case "maxDepth":
            guard let depth = value.integer, 0...1_000 ~= depth else { return false }
            filter.maximumDepth = Int(depth)
            limits.depth = max(limits.depth, Int(depth))
        case "newerThan":
            guard let time = value.integer else { return false }
            filter.newerThan = UnixTime(seconds: time)
        case "maxSize":
            guard let size = value.integer, size >= 0 else { return false }
            filter.maximumSize = size
        case "platform":
            guard let text = value.string else { return false }
            platform = text
        case "rules":
            guard let texts = value.array?.map(\.string), !texts.contains(nil) else { return false }
            for case let text? in texts {
                guard text.utf8.count > 1, let sign = ["+": true, "-": false][text.prefix(1)] else { return false }
                filter.rules.append(EntryFilter.Rule(String(text.dropFirst()), isIncluded: sign))
            }
        case _: return false
        }
        return true
    }

    private static func flaw(_ name: String, _ why: String) -> Failure {
        Failure(.badOption, "cannot use", at: name, because: .init(stringLiteral: why))
    }

    /// What differs from the default, in the form that ``init(_:)`` reads.
    package var json: JSON {
        let plain = ListingOptions()
        var members: [JSON.Member] = []
        func add(_ name: String, _ value: JSON?, _ differs: Bool = true) {
            if let value, differs { members.append(JSON.Member(name, value)) }
        }
        add("recursive", .bool(isRecursive), !isRecursive)
        add("robots", .bool(obeysRobots), !obeysRobots)
        add("links", .bool(followsLinks), !followsLinks)
        add("artifact", .bool(isArtifact), isArtifact)
        add("maxEntries", .number(limits.entries), limits.entries != plain.limits.entries)
        add("maxFolders", .number(limits.folders), limits.folders != plain.limits.folders)
        add("maxDepth", filter.maximumDepth.map { .number($0) })
        add("newerThan", filter.newerThan.map { .number($0.seconds) })
        add("maxSize", filter.maximumSize.map { .number($0) })
        add("platform", platform.map { .string($0) })
        add("rules", .array(filter.rules.map { .string($0.text) }), !filter.rules.isEmpty)
        return .object(members)
    }
}
#endif
