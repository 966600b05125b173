import PawlBase
package import PawlTerminal

extension Command {
    package static let check = Command(
        "check", "[options] ID...", summary: "compare finished files with their digests",
        details: """
            Read the files of finished downloads and compare them with the digests that were given and those they were \
            verified with, and with the pieces of their Metalink. One line per file says what it was compared with. The \
            exit code is 32 if a file is wrong, and 3 if no digest of it is known. With --repair the wrong pieces are \
            fetched again, or all of the file if its pieces are not known.
            """, operand: .downloads, taking: [VerbOptions.repair] + VerbOptions.common
    ) { (options, ids) throws(Failure) in
        try requireIDs(ids, in: "check")
        let client = try options.client()
        let method = options.repairs ? "pawl.repair" : "pawl.verify"
        var code: Int32 = 0
        for id in ids {
            do throws(Failure) {
                let id = try client.id(id, to: "check")
                let result = try client.call(method, [.string(id)], to: "check", ShortIDs.text(id), .unlimited)
                var event = [JSON.Member("id", .string(id))]
                event += result.members ?? []
                CommandOutput(options).show(.object(event), sentence(id, result))
                if result["right"]?.bool != true { code = Int32(Failure.Code.checksumMismatch.rawValue) }
            } catch {
                printFailure(error)
                if code == 0 { code = Int32(error.code.rawValue) }
            }
        }
        return code
    }

    private static func sentence(_ id: String, _ result: JSON) -> String {
        let isRight = result["right"]?.bool == true
        var compared = (result["digests"]?.array ?? []).map { digest in
            let source = digest["source"]?.string ?? ""
            let verdict = digest["right"]?.bool == true ? "" : " differs"
            return "\(digest["algorithm"]?.string ?? "") (\(digest["level"]?.string ?? "")"
                + (source.isEmpty ? "" : ": \(source)") + ")\(verdict)"
        }
        if let pieces = result["pieces"]?.integer, pieces > 0 {
            let wrong = result["wrongPieces"]?.integer ?? 0
            compared.append(wrong == 0 ? "\(pieces) pieces" : "\(wrong) of \(pieces) pieces differ")
        }
        let verdict =
            isRight
            ? "right"
            : result["repairing"]?.bool == true
                ? "wrong, fetching it again" : "wrong, 'pawl check --repair \(ShortIDs.text(id))' fetches it again"
        return
            "\(result["path"]?.string ?? ShortIDs.text(id)): \(verdict); compared with \(compared.joined(separator: ", "))"
    }
}
