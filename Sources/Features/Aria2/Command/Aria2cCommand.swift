import Glibc
import Pawl
import PawlAria2
import PawlBase
import PawlGet
import PawlSystem
package import PawlTerminal

extension Command {
    /// The replacement for aria2c, also run if the program is called by that name.
    package static let aria2c = Command(
        "aria2c", "[options] URL...", summary: "aria2c-compatible command line",
        details: """
            Accept aria2c's command line. With --enable-rpc, run a service for aria2 clients with one download root, \
            the folder for files; otherwise download as 'pawl get' does, with aria2's defaults. A link to pawl named \
            aria2c does the same.
            Without a secret or a login, only this machine can connect. Torrents need web seeds.
            """, operand: .addresses, options: Aria2cOptions.table.map(\.entry)
    ) { (arguments) throws(Failure) in
        var given = Aria2cOptions()
        let parser = OptionParser(Aria2cOptions.table, command: "aria2c", acceptsPrefixes: true)
        let addresses = try parser.parse(arguments, into: &given)
        switch given.textOption {
        case "help": say(Aria2cHelp.text(on: given.topic))
        case "version": say(Aria2cOptions.versionText)
        case nil, .some: return .exit(try Aria2cRun(given.joined(), addresses).run())
        }
        return .exit(0)
    }
}

extension Aria2cOptions {
    static let table: [CommandOption<Aria2cOptions>] = Aria2cRow.table.map { row in
        CommandOption(
            row.option.name, short: row.short,
            takes: row.role == .text
                ? .optional("#TAG|WORD")  // aria2c takes the next word for this flag alone.
                : row.option.kind == .flag && row.option.name != "show-console-readout"
                    ? .optional("true|false") : .required("VALUE"), in: row.group, row.help
        ) { (options, value) throws(Failure) in try options.set(row, value) }
    }

    static let versionText = """
        aria2 version \(Aria2Version.text)
        Pawl \(PawlVersion.text) as a replacement for aria2

        ** Configuration **
        Enabled Features: \(Aria2Version.features.joined(separator: ", "))
        Hash Algorithms: \(HashAlgorithm.allCases.map(\.rawValue).joined(separator: ", "))

        """

    /// These options over the configuration file's, over aria2's defaults where they differ from Pawl's.
    func joined() throws(Failure) -> Aria2cOptions {
        var joined = Aria2cOptions()
        for (name, value) in Aria2cOptions.defaults {
            if let row = Aria2cRow.named[name] { try joined.set(row, value) }
        }
        guard !flag("no-conf") else { return over(joined) }
        var file = Aria2cOptions()
        if let path = self["conf-path"] {
            guard !path.isEmpty else { return over(joined) }
            do throws(Failure) {
                try file.take(configuration: try readBytes(at: path), home: Aria2cOptions.home)
            } catch  where error.code == .cannotOpen {
                throw Failure(.unknown, error.what, at: error.place, because: error.why)
            }
        } else if let path = Aria2cOptions.usualFiles.first(where: { unsafe access($0, R_OK) == 0 }) {
            try file.take(configuration: try readBytes(at: path), home: Aria2cOptions.home)
        }
        return over(file.over(joined))
    }

    static let defaults = [
        "split": "5", "max-connection-per-server": "1", "max-concurrent-downloads": "5", "timeout": "60",
        "connect-timeout": "60", "max-tries": "5", "min-split-size": "20M", "retry-wait": "0", "remote-time": "false",
    ]

    private static var home: String { Environment.home ?? "" }

    private static var usualFiles: [String] {
        guard let home = Environment.home, let settings = Environment.configuration else { return [] }
        return [home + "/.aria2/aria2.conf", settings + "/aria2/aria2.conf"]
    }
}
