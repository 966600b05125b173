import PawlBase

extension StreamFile {
    /// `movie.mp4` as `movie` and `.mp4`; the suffix may be missing.
    package static func parts(of name: String) -> (stem: String, suffix: String) {
        guard let dot = name.utf8.lastIndex(of: .dot), dot > name.utf8.startIndex,
            !name.utf8[dot...].contains(.slash)
        else { return (name, "") }
        return (String(name[..<dot]), String(name[dot...]))
    }

    /// The names of a stream's files when its first one gets another: further ones keep what they have behind the common part.
    ///
    /// `show.video.ts` and `show.audio.en.aac`, renamed to `film.mp4`, become `film.mp4` and `film.audio.en.aac`.
    package static func names(_ names: [String], renaming first: String) -> [String] {
        guard let old = names.first, names.count > 1 else { return [first] }
        let common = names.dropFirst().reduce(Array(old.utf8)) { common, name in
            Array(zip(common, name.utf8).prefix { $0 == $1 }.map(\.0))
        }
        // A word that only begins alike is none of the common part.
        guard let end = common.lastIndex(of: .dot), end > 0 else { return [first] + names.dropFirst() }
        let (label, suffix) = parts(of: String(Substring(old.utf8.dropFirst(end))))
        let own = suffix.isEmpty ? "" : label
        var stem = Array(parts(of: first).stem.utf8)
        if !own.isEmpty, stem.count > own.utf8.count, stem.suffix(own.utf8.count).elementsEqual(own.utf8) {
            stem.removeLast(own.utf8.count)
        }
        return [first]
            + names.dropFirst().map { String(decoding: stem + Array($0.utf8.dropFirst(end)), as: UTF8.self) }
    }

    /// Why a stream became several files, with what joins them; `nil` if nobody has to be told.
    package static func reason(_ files: [StreamFile], at paths: [String]) -> String? {
        func all(_ content: StreamTrack.Content) -> [String] {
            zip(files, paths).compactMap { $0.content == content ? $1 : nil }
        }
        let (video, audio) = (all(.video), all(.audio))
        if files.contains(where: { $0.part > 0 }) {
            return "The initialization changes: each part is a file of its own, since joined they would play wrongly."
        }
        guard let picture = video.first, video.count == 1, !audio.isEmpty else { return nil }
        let (stem, suffix) = parts(of: picture)
        let whole = (stem.hasSuffix(".video") ? String(stem.dropLast(6)) : stem + ".joined") + suffix
        let inputs = ([picture] + audio).map { "-i " + quoted($0) }.joined(separator: " ")
        // Without it ffmpeg takes one sound only.
        let maps = audio.count == 1 ? "" : (0...audio.count).map { "-map \($0) " }.joined()
        return "Sound and pictures are apart; to join them: ffmpeg \(inputs) \(maps)-c copy \(quoted(whole))"
    }

    /// As a word of a shell.
    private static func quoted(_ path: String) -> String {
        let isPlain = path.utf8.allSatisfy {
            $0.isLetter || $0.isDigit || [.dot, .slash, .dash, UInt8(ascii: "_")].contains($0)
        }
        return isPlain && path.utf8.first != .dash ? path : "'" + path.replacing("'", with: "'\\''") + "'"
    }
}
