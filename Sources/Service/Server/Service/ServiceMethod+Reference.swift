extension ServiceMethod {
    /// `Documentation/RPC.md`.
    static var reference: String {
        let sections = table.map { method in
            """
            ### `\(method.name)`

            \(method.help)

            - Parameters: `\(method.parameters)`
            - Result: \(method.result)
            - Access: \(method.access)

            ```json
            {"jsonrpc": "2.0", "id": 1, "method": "\(method.name)", "params": \(method.parametersWithToken)}
            ```
            """
        }
        return introduction + "\n\n" + sections.joined(separator: "\n\n") + "\n"
    }

    private var access: String {
        if isReadOnly { return "reads; also by GET" }
        return returnsOptions ? "reads secrets; POST and WebSocket only" : "changes; POST and WebSocket only"
    }

    private var parametersWithToken: String {
        example == "[]" ? #"["token:SECRET"]"# : #"["token:SECRET", "# + example.dropFirst()
    }

    private static let introduction = """
        # RPC

        The service takes JSON-RPC 2.0 at `/jsonrpc` (POST, GET with parameters in Base64, WebSocket) and XML-RPC at `/rpc`, on its
        socket file and on its port. aria2's methods (`aria2.…`, `system.…`) behave as in aria2's manual. This page lists Pawl's
        own methods. It is generated from the table in `Sources/Service/Server/Service/ServiceMethod+Table.swift` by `make rpc-reference`.

        At the port the first parameter is the secret, `"token:SECRET"`; at the socket file it is left out. An `ID` is the beginning of a
        download's id, long enough to be unambiguous. A download, its states and an event are described in `JSON.md`.

        ## Errors

        An error has a `code` and a `message`. With a code of the command line it may also have `data`, an error as in
        `JSON.md`, with the parts of the message.

        | code | meaning |
        |---|---|
        | -32602 | a parameter is missing, of a wrong type, out of range or unknown, also an option of a download with an unknown name or a value that is not a string, or a text of the message has half of a surrogate pair (`"\\ud800"`); the call changed nothing |
        | 1, `Unauthorized` | the secret is missing or wrong |
        | 1, `No such method: …` | there is no method of that name, as in aria2 |
        | 3 | no such download |
        | 13 | a file of that name exists |
        | 28 | a value of the right type is refused, such as an invalid URL, file name or timetable, an `ID` of several downloads, an option's invalid value |
        | other codes up to 36 | as the exit codes of the command line |
        | -32600, -32700 | the request is not JSON-RPC, or not JSON |

        `pawl.add` returns the errors of single downloads as `error` in its result, and adds the others.

        ## Methods
        """
}
