#if Features
package import PawlBase

extension StreamOptions {
    /// As callers give them, and as the queue stores them: an object, each member optional.
    ///
    /// Throws code 28 for one that is unknown or invalid.
    package init(_ json: JSON) throws(Failure) {
        self.init()
        guard let members = json.members else { throw Self.flaw("stream", "it must be an object") }
        for member in members where member.value != .null {
            guard take(member) else { throw Self.flaw("stream.\(member.name)", "there is no such value of a stream") }
        }
        try check()
    }

    /// `false` if the name or the value is unknown.
    private mutating func take(_ member: JSON.Member) -> Bool {
        switch member.name {
        case "quality": quality = member.value.string ?? ""
        case "audio": audio = member.value.string ?? ""
        case "subtitles": subtitles = member.value.string ?? ""
        case "remux": remux = member.value.string ?? ""
        case "allowGaps": allowedGaps = member.value.integer.flatMap { Int(exactly: $0) } ?? -1
        case _: return false
        }
        return true
    }

    private static func flaw(_ name: String, _ why: String) -> Failure {
        Failure(.badOption, "cannot use", at: name, because: .init(stringLiteral: why))
    }

    /// What differs from the default, in the form that ``init(_:)`` reads.
    package var json: JSON {
        let plain = StreamOptions()
        var members: [JSON.Member] = []
        if quality != plain.quality { members.append(JSON.Member("quality", .string(quality))) }
        if let audio { members.append(JSON.Member("audio", .string(audio))) }
        if subtitles != plain.subtitles { members.append(JSON.Member("subtitles", .string(subtitles))) }
        if let remux { members.append(JSON.Member("remux", .string(remux))) }
        if allowedGaps != 0 { members.append(JSON.Member("allowGaps", .number(allowedGaps))) }
        return .object(members)
    }

    /// As the queue and sessions store them, in one line.
    package var stored: String { json.text }

    /// `nil` for what ``stored`` never returns.
    package init?(stored text: String) {
        guard let json = try? JSON.parse(text), let options = try? StreamOptions(json) else { return nil }
        self = options
    }
}

extension DownloadSnapshot.Segments {
    /// `DONE TOTAL`, as the queue stores it.
    init?(stored text: String) {
        let parts = text.split(separator: " ").compactMap { Int($0) }
        guard parts.count == 2 else { return nil }
        self.init(done: parts[0], total: parts[1])
    }

    /// As the service and `pawl get --json` print it (Documentation/JSON.md).
    package var json: JSON { ["done": .number(done), "total": .number(total)] }
}
#endif
