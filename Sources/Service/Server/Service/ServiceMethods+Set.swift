import Pawl
import PawlBase
import PawlWeb

extension ServiceMethods {
    /// `[ID or IDs, {url, options, mirrors, folder, group, priority, description, startAt}]`: changes existing downloads.
    func set(_ given: RPCParameters) async throws -> JSON {
        let change = try DownloadChange(try given.requiredMembers(1), given.rights)
        guard try change.url == nil || given.textOrTexts(0).count == 1 else {
            throw RPCError.invalid("url must be given for one download only")
        }
        return try await each(given) { step, id in try change.apply(to: id, in: step) }
    }
}

/// A change of an existing download.
private struct DownloadChange: Sendable {
    /// The values of each option; none removes it.
    private var options: [(option: DownloadOption, texts: [String])] = []
    let url: String?
    private var mirrors: [String]?
    private var folder: String?
    private var group: String?
    private var priority: Int?
    private var description: String?
    private var startAt: Int?
    private let isOwner: Bool

    init(_ object: JSON, _ rights: RPCRights) throws(RPCError) {
        let fields = try RPCFields(
            object, named: ["url", "options", "mirrors", "folder", "group", "priority", "description", "startAt"])
        isOwner = rights.mayNameFiles
        url = try fields.text("url")
        folder = try fields.text("folder")
        mirrors = try fields.texts("mirrors")
        group = try fields.text("group")
        priority = try fields.integer("priority", in: .min ... .max)
        description = try fields.text("description")
        startAt = try fields.integer("startAt", in: 0...Int(Int32.max) * 4)
        for member in try fields.members("options") ?? [] {
            guard let option = DownloadOption.named[member.name], option.name != "mirror" else {
                throw .invalid("there is no option \(member.name)")
            }
            var texts: [String] = []
            for value in member.value == .null ? [] : member.value.array ?? [member.value] {
                guard let text = value.string else {
                    throw .invalid("the option \(member.name) must be a string, an array of strings, or null")
                }
                // A flag without a value is set.
                if !text.isEmpty || option.placeholder == nil { texts.append(text) }
            }
            guard isOwner || !texts.contains(where: option.isFile) else {
                throw RPCError(
                    Int(PawlError.Code.badOption.rawValue),
                    "options that name local files are accepted over the Unix socket only: use 'pawl set'")
            }
            options.append((option, texts))
        }
    }

    /// Returns whether anything differs now.
    func apply(to id: Download.ID, in step: QueueStep) throws(Failure) -> Bool {
        guard let details = try step.details(of: id), details.snapshot.state != .removed else { return false }
        var isChanged = false
        if !options.isEmpty || mirrors != nil || folder != nil || url != nil {
            var changed = details.options
            for (option, texts) in options {
                option.clear(&changed)
                for text in texts { try option.take(text, into: &changed) }
            }
            if let mirrors { changed.mirrors = mirrors }
            if !isOwner { changed.usesOwnersSecrets = false }
            isChanged = changed != details.options || folder != nil && folder != details.snapshot.folder
            if let folder { try step.perform(.folder(id, folder)) }
            guard try step.perform(.options(id, changed)).isChange else {
                throw Failure(
                    .badOption, "cannot change", at: String(id.description.prefix(6)),
                    because: LocalizableMessage("has-finished", "it has finished"),
                    remedy: "remove it, and add the URL again")
            }
        }
        if let url, !details.sources.first.hasSameBytes(as: url) {
            try step.perform(.replaceURL(id, url, usesOwnersSecrets: isOwner))
            isChanged = true
        }
        if let startAt, try step.perform(.schedule(id, Int64(startAt))).isChange { isChanged = true }
        isChanged = isChanged || differs(from: details.snapshot)
        if let priority { try step.perform(.priority(id, priority)) }
        if let group { try step.perform(.group(id, group)) }
        if let description { try step.perform(.description(id, description.isEmpty ? nil : description)) }
        return isChanged
    }

    /// Whether a given group, priority or description differs from that of the download.
    private func differs(from snapshot: DownloadSnapshot) -> Bool {
        let isElsewhere = group.map { $0 != snapshot.group ?? "" } ?? false
        let isOther = description.map { $0 != snapshot.taskDescription ?? "" } ?? false
        return isElsewhere || isOther || priority.map { $0 != snapshot.priority } ?? false
    }
}
