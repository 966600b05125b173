import Pawl
import PawlBase
import PawlIntake
import PawlWeb

// What somebody drops or pastes.
extension ServiceMethods {
    /// `[{name, content}]`: the downloads of a dropped or pasted text, in the form that `pawl.add` takes.
    func read(_ given: RPCParameters) async throws -> JSON {
        let fields = try RPCFields(try given.requiredMembers(0), named: ["name", "content"])
        let name = try fields.text("name") ?? "the text"
        guard let content = try fields.text("content"), let bytes = Base64.decodePadded(Array(content.utf8)[...]) else {
            throw RPCError.invalid("content must be Base64")
        }
        do throws(Failure) {
            switch try DroppedContent(bytes, named: name) {
            case .text(let text): return ["text": .string(text)]
            case .torrent:
                let torrent = try TorrentDownloads(bytes, at: name)
                if let why = torrent.obstacle {
                    throw Failure(
                        .badOption, "cannot use", at: Redaction.printable(name), because: .init(stringLiteral: why))
                }
                return [
                    "torrent": [
                        "name": .string(torrent.name), "files": .number(torrent.files.count),
                        "size": .number(
                            torrent.files.reduce(Int64(0)) { $0.addingReportingOverflow($1.length).partialValue }),
                        "source": .string(CollectionSource.text(ofTorrent: bytes, named: torrent.name)),
                    ]
                ]
            case .entries(let entries): return ["items": .array(entries.map(Self.item))]
            case .list(let entries):
                let translated = try TransferCommand.translated(entries) { name in
                    DownloadOptions.hasOption(named: name) && name != "out" || ["dir", "user"].contains(name)
                }
                guard let translated else { return ["text": .string(String(decoding: bytes, as: UTF8.self))] }
                return ["items": .array(translated.map(Self.item))]
            }
        } catch { return ["error": .object(ServiceJSON.members(PawlError(error)))] }
    }

    private static func item(_ entry: InputEntry) -> JSON {
        var options: [JSON.Member] = []
        var folders: [String] = []
        for name in entry.options.map(\.name).reduce(into: [String](), { if !$0.contains($1) { $0.append($1) } }) {
            let values = entry.options.filter { $0.name == name }.map(\.value)
            switch name {
            case "dir": folders.insert(values.last ?? "", at: 0)
            case "output":
                // A name with folders, as Metalinks have.
                let parts = (values.last ?? "").split(separator: "/").map { String($0) }
                folders += parts.dropLast()
                options.append(JSON.Member(name, .string(parts.last ?? "")))
            case "user":
                // With the password in an input file.
                let parts = (values.last ?? "").split(separator: ":", maxSplits: 1).map(String.init)
                options.append(JSON.Member(name, .string(parts.first ?? "")))
                if parts.count > 1 { options.append(JSON.Member("password", .string(parts[1]))) }
            case "header": options.append(JSON.Member(name, .array(values.map(JSON.string))))
            case "checksum": options.append(JSON.Member(name, .string(values.joined(separator: ","))))
            case _: options.append(JSON.Member(name, .string(values.last ?? "")))
            }
        }
        return .object([
            JSON.Member("url", .string(entry.addresses.first ?? "")),
            JSON.Member("mirrors", .array(entry.addresses.dropFirst().map(JSON.string))),
            JSON.Member("options", .object(options)),
            JSON.Member("folder", folders.isEmpty ? .null : .string(folders.joined(separator: "/"))),
            JSON.Member("pieces", entry.pieces.map { .string($0.text) } ?? .null),
        ])
    }
}
