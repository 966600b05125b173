import PawlBase
import PawlJournal
import PawlServiceCommands
import PawlTerminal

/// Shell completion scripts, generated from the tables of commands and options.
enum Completions {
    static let shells = ["bash", "zsh", "fish"]

    /// Returns `nil` for an unknown shell.
    static func text(for shell: String) -> String? {
        switch shell {
        case "bash": bash
        case "zsh": zsh
        case "fish": fish
        default: nil
        }
    }

    /// The candidates that a shell offers for a value.
    enum Offer {
        case nothing
        case files
        case folders
        case words([String])
        case groups
    }

    static func offer(for option: OptionEntry) -> Offer? {
        let metavar: String
        switch option.value {
        case .none: return nil
        case .required(let name), .optional(let name): metavar = name
        }
        if metavar.hasPrefix("DIR") { return .folders }
        if option.long == "group" { return .groups }
        if option.long == "state" { return .words(StateFilter.allCases.map(\.rawValue)) }
        if metavar.hasPrefix("FILE") || metavar == "CMD" { return .files }
        let words = metavar.split(separator: "|").map(String.init)
        let choices = words.filter { $0.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "-" } }
        return choices.isEmpty ? .nothing : .words(choices)
    }

    /// Print candidates with descriptions, separated by a tab.
    static let idsCommand = "pawl completions ids 2>/dev/null"
    static let groupsCommand = "pawl completions groups 2>/dev/null"

    // MARK: bash

    private static var bash: String {
        var values = ""
        var operands = ""
        for command in Command.table {
            for option in command.options {
                guard let offer = offer(for: option) else { continue }
                let names = option.names.map { "--" + $0 } + (option.short.map { ["-\($0)"] } ?? [])
                let pattern = names.map { "\(command.name),\($0)" }.joined(separator: "|")
                values += "    \(pattern)) \(bashReply(offer)) return ;;\n"
            }
            let flags = command.options.flatMap { option in
                option.names.map { "--" + $0 } + (option.short.map { ["-\($0)"] } ?? [])
            }
            operands += "    \(command.name))\n        if [[ $current == -* ]]; then\n"
            operands += "            COMPREPLY=($(compgen -W '\(flags.joined(separator: " "))' -- \"$current\"))\n"
            operands += bashOperand(command.operand)
            operands += "        fi ;;\n"
        }
        let names = (Command.table.map(\.name) + ["--help", "--version"]).joined(separator: " ")
        return """
            # bash completion for pawl; made by 'pawl completions bash'
            # Offers the words of lines 'word TAB description'; the description is shown while there are several.
            _pawl_described() {
                local line
                local -a found=()
                while IFS= read -r line; do
                    [[ ${line%%$'\\t'*} == "$current"* ]] && found+=("$line")
                done
                for line in "${found[@]}"; do
                    if ((${#found[@]} == 1)) || [[ $COMP_TYPE == 37 || $COMP_TYPE == 42 ]]; then
                        COMPREPLY+=("${line%%$'\\t'*}")
                    else
                        COMPREPLY+=("${line%%$'\\t'*}  ${line#*$'\\t'}")
                    fi
                done
            }
            # The number of operands before the current word.
            _pawl_operands() {
                local index count=0
                for ((index = 2; index < COMP_CWORD; index++)); do
                    case ${COMP_WORDS[index]} in
                    --socket | =) ((index++)) ;;
                    -[a-z-]*) ;;
                    *) ((count++)) ;;
                    esac
                done
                echo $count
            }
            _pawl() {
                local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
                COMPREPLY=()
                # --option=value is three words.
                if [[ $current == '=' ]]; then
                    current=''
                elif [[ $previous == '=' ]] && ((COMP_CWORD > 2)); then
                    previous=${COMP_WORDS[COMP_CWORD - 2]}
                fi
                if ((COMP_CWORD == 1)); then
                    COMPREPLY=($(compgen -W '\(names)' -- "$current"))
                    return
                fi
                case ${COMP_WORDS[1]},$previous in
            \(values)    esac
                case ${COMP_WORDS[1]} in
            \(operands)    esac
            }
            complete -o default -F _pawl pawl

            """
    }

    private static func bashOperand(_ operand: Command.Operand) -> String {
        switch operand {
        case .nothing, .addresses, .files: ""
        case .downloads: "        else\n            _pawl_described < <(\(idsCommand))\n"
        case .words(let words): "        else\n            \(bashReply(.words(words)))\n"
        case .commands(let words): "        else\n            \(bashReply(.words(words + Command.table.map(\.name))))\n"
        case .sequence(let operands):
            operands.enumerated().map { position, operand in
                bashOperand(operand).replacing(
                    "        else\n", with: "        elif (($(_pawl_operands) == \(position))); then\n")
            }.joined()
        }
    }

    private static func bashReply(_ offer: Offer) -> String {
        switch offer {
        case .nothing: ""
        case .groups: "_pawl_described < <(\(groupsCommand));"
        case .files: "COMPREPLY=($(compgen -f -- \"$current\"));"
        case .folders: "COMPREPLY=($(compgen -d -- \"$current\"));"
        case .words(let words): "COMPREPLY=($(compgen -W '\(words.joined(separator: " "))' -- \"$current\"));"
        }
    }

    // MARK: fish

    private static var fish: String {
        var text = "# fish completion for pawl; made by 'pawl completions fish'\n"
        text += "complete -c pawl -f\n"
        for command in Command.table {
            text += "complete -c pawl -n __fish_use_subcommand -a \(command.name) -d \(quote(command.summary))\n"
            let condition = "-n '__fish_seen_subcommand_from \(command.name)'"
            for option in command.options { text += fishLine(option, condition) }
            text += fishOperand(command.operand, "__fish_seen_subcommand_from \(command.name)")
        }
        return text
    }

    private static func fishOperand(_ operand: Command.Operand, _ condition: String) -> String {
        let line = "complete -c pawl -n '\(condition)'"
        switch operand {
        case .nothing, .addresses: return ""
        case .files: return "\(line) -F\n"
        case .downloads: return "\(line) -a \(quote("(\(idsCommand))"))\n"
        case .words(let words): return "\(line) -a \(quote(words.joined(separator: " ")))\n"
        case .commands(let words):
            let names = words + Command.table.map(\.name)
            return "\(line) -a \(quote(names.joined(separator: " ")))\n"
        case .sequence(let operands):
            // The words before the current one, the program and the command included.
            return operands.enumerated().map { position, operand in
                fishOperand(operand, "\(condition); and test (count (commandline -opc)) -eq \(position + 2)")
            }.joined()
        }
    }

    private static func fishLine(_ option: OptionEntry, _ condition: String) -> String {
        var line = "complete -c pawl \(condition)"
        for name in option.names { line += " -l \(name)" }
        if let short = option.short { line += " -s \(quote(String(short)))" }
        switch offer(for: option) {
        case nil: break
        case .nothing: line += " -x"
        case .groups: line += " -xa \(quote("(\(groupsCommand))"))"
        case .files: line += " -rF"
        case .folders: line += " -xa '(__fish_complete_directories)'"
        // Each with an empty description: the option's is not theirs.
        case .words(let words): line += " -xa \(quote(words.map { "\($0)\\t" }.joined(separator: " ")))"
        }
        return line + " -d \(quote(option.help))\n"
    }

    /// In single quotes, for fish.
    private static func quote(_ text: String) -> String {
        "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
    }
}

/// What completion scripts ask for: `pawl completions ids`, `pawl completions groups`.
enum CompletionList: String {
    case ids
    case groups

    /// A line for each candidate: the word, a tab, and its description.
    func text() throws(Failure) -> String {
        let client = try VerbOptions().client()
        switch self {
        case .ids:
            let downloads = try client.list(VerbOptions()).compactMap(RemoteDownload.init)
            let digits = ShortIDs.digits(downloads.map(\.id))
            return downloads.map { "\($0.id.prefix(digits))\t\($0.title) (\($0.stateText.word))\n" }.joined()
        case .groups:
            return try client.groups().map { group in "\(TerminalText.harmless(group.name))\t\(group.content)\n" }
                .joined()
        }
    }
}
