import Pawl

/// The texts of `--help`, made from the tables of options.
package enum HelpText {
    package static let overview = """
        Pawl \(PawlVersion.text): downloads that only move forward.

        usage: pawl get [options] URL...   download now; once more continues
               pawl help get               every option
               pawl --version

        A file appears under its name only when it is complete and checked. Until then
        NAME.part holds the data and NAME.pawl what is needed to continue. Ctrl-C
        pauses; nothing that was received is lost.

        """

    package static let get = """
        usage: pawl get [options] URL...

        Downloads now, in this process: http, https, ftp and sftp. Several URLs are
        several files. Ctrl-C pauses (exit code 7), the same command again continues.

        \(list(GetOptions.table))Exit codes:
          0 ok, 1 unknown, 2 time-out, 3 not found, 5 too slow, 6 network, 7 unfinished,
          8 cannot resume, 9 disk full, 11 already being downloaded, 13 file exists,
          14 rename failed, 15 cannot open, 16 cannot create, 17 input or output,
          18 cannot make the folder, 19 name resolution, 22 bad answer, 23 too many
          redirects, 24 authorization, 28 bad option or URL, 29 server overloaded,
          32 checksum mismatch, 33 not trusted, 34 journal of a newer Pawl.
          With several files: the code of the last that failed.

        """

    /// The options under their headings, at most 80 columns wide.
    static func list<Target>(_ options: [CommandOption<Target>]) -> String {
        var text = ""
        for group in OptionGroup.allCases {
            let members = options.filter { $0.group == group }
            guard !members.isEmpty else { continue }
            text += group.rawValue + ":\n"
            for option in members { text += entry(option) }
            text += "\n"
        }
        return text
    }

    private static let indent = 26

    private static func entry<Target>(_ option: CommandOption<Target>) -> String {
        var head = option.short.map { "  -\($0), " } ?? "      "
        head += "--" + option.long
        switch option.value {
        case .none: break
        case .required(let metavar): head += " " + metavar
        case .optional(let metavar): head += "[=" + metavar + "]"
        }
        let words = option.help + (option.standard.map { " [\($0)]" } ?? "")
        let lines = wrapped(words, width: 80 - indent)
        let margin = String(repeating: " ", count: indent)
        // A long head stands on a line of its own.
        let first = head.count < indent ? head + margin.dropFirst(head.count) : head + "\n" + margin
        return first + lines.joined(separator: "\n" + margin) + "\n"
    }

    private static func wrapped(_ text: String, width: Int) -> [String] {
        var lines = [""]
        for word in text.split(separator: " ") {
            let last = lines[lines.count - 1]
            if last.isEmpty {
                lines[lines.count - 1] = String(word)
            } else if last.count + 1 + word.count <= width {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
