import PawlCore

extension GetPlan.Item {
    /// One item per file of a Metalink, in the form of an input file.
    static func items(ofMetalink bytes: [UInt8], at path: String) throws(Failure) -> [GetPlan.Item] {
        let metalink: Metalink
        do throws(Metalink.Fault) { metalink = try Metalink(bytes) } catch {
            throw Failure(.badOption, "cannot use the Metalink", at: path, because: error.words)
        }
        return metalink.files.map { file in
            let sources = file.sources.map(\.address.text)
            let place = (file.folders + [file.name]).joined(separator: "/")
            var lines = [InputOption(name: "output", value: "./" + place, line: 0)]
            for checksum in file.checksums {
                lines.append(InputOption(name: "checksum", value: checksum.text, line: 0))
            }
            if let size = file.size {
                lines.append(InputOption(name: "length", value: String(size), line: 0))
            }
            return GetPlan.Item(
                source: sources[0],
                mirrors: Array(sources.dropFirst()),
                lines: lines,
                pieces: file.pieces
            )
        }
    }
}
