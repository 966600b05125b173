import PawlTerminal

extension Completions {
    static var zsh: String {
        var commands = ""
        var cases = ""
        for command in Command.table {
            commands += "        \(quoted("\(command.name):\(command.summary)"))\n"
            cases += "        \(command.name)) _arguments -s -S"
            for option in command.options { cases += " \\\n            " + argument(option) }
            cases += operand(command.operand, at: "*")
            cases += " ;;\n"
        }
        return """
            #compdef pawl
            # zsh completion for pawl; made by 'pawl completions zsh'
            _pawl_ids() {
                local -a found
                local line
                for line in ${(f)"$(\(idsCommand))"}; do
                    found+=("${line%%$'\\t'*}:${line#*$'\\t'}")
                done
                _describe -t downloads download found
            }
            _pawl_groups() {
                local -a found
                local line
                for line in ${(f)"$(\(groupsCommand))"}; do
                    found+=("${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}")
                done
                _describe -t groups group found
            }
            _pawl() {
                local curcontext=$curcontext state line
                local -a commands
                commands=(
            \(commands)    )
                _arguments -C '1:command:->command' '*::argument:->argument'
                case $state in
                command) _describe command commands ;;
                argument)
                    case $line[1] in
            \(cases)        esac ;;
                esac
            }
            if [[ $funcstack[1] == _pawl ]]; then _pawl "$@"; else compdef _pawl pawl; fi

            """
    }

    /// `position` is a number from 1, or `*` for all.
    private static func operand(_ operand: Command.Operand, at position: String) -> String {
        func line(_ text: String) -> String { " \\\n            '\(position):\(text)'" }
        switch operand {
        case .nothing: return ""
        case .addresses: return line("URL:_urls")
        case .files: return line("file:_files")
        case .downloads: return line("download:_pawl_ids")
        case .words(let words): return line("word:(\(words.joined(separator: " ")))")
        case .commands(let words):
            return line("command:(\((words + Command.table.map(\.name)).joined(separator: " ")))")
        case .sequence(let operands):
            return operands.enumerated().map { Completions.operand($1, at: String($0 + 1)) }.joined()
        }
    }

    private static func argument(_ option: OptionEntry) -> String {
        let names = option.names.map { "--" + $0 } + (option.short.map { ["-\($0)"] } ?? [])
        let isAttached = if case .optional = option.value { true } else { false }
        let help = option.help.replacing("\\", with: "\\\\").replacing("[", with: "\\[").replacing("]", with: "\\]")
            .replacing(":", with: "\\:")
        let action: String
        switch offer(for: option) {
        case nil: action = ""
        case .nothing: action = ":value: "
        case .groups: action = ":group:_pawl_groups"
        case .files: action = ":file:_files"
        case .folders: action = ":folder:_files -/"
        case .words(let words): action = ":value:(\(words.joined(separator: " ")))"
        }
        return names.map { name in
            let isLong = name.hasPrefix("--")
            // "=" takes the value after the sign or in the next word, "=-" after the sign only.
            let ending = isAttached ? (isLong ? "=-" : "-") : isLong && !action.isEmpty ? "=" : ""
            return quoted("*\(name)\(ending)[\(help)]\(isAttached ? ":" : "")\(action)")
        }.joined(separator: " ")
    }

    /// In single quotes, for zsh.
    private static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: #"'\''"#) + "'" }
}
