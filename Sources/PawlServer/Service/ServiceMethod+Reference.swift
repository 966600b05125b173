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
        return tellsOptions ? "reads secrets; POST and WebSocket only" : "changes; POST and WebSocket only"
    }

    private var parametersWithToken: String {
        example == "[]" ? #"["token:SECRET"]"# : #"["token:SECRET", "# + example.dropFirst()
    }

    private static let introduction = """
        # RPC

        The service takes JSON-RPC 2.0 at `/jsonrpc` (POST, GET with parameters in Base64, WebSocket) and XML-RPC at `/rpc`, on its
        socket file and on its port. aria2's methods (`aria2.…`, `system.…`) behave as in aria2's manual. This page lists the methods
        of Pawl's own. It is made from the table in `Sources/PawlServer/Service/ServiceMethod+Table.swift` by `make rpc-reference`.

        At the port the first parameter is the secret, `"token:SECRET"`; at the socket file it is left out. An `ID` is the beginning of a
        download's id, long enough to name one. A download, its states and an event are described in `JSON.md`.

        ## Errors

        An error has a `code` and a `message`. Code 1 is an invalid parameter, or with the message `Unauthorized` a missing or wrong
        secret. Other codes up to 35 are those of the command line's exit codes: 3 no such download, 13 the file exists, 28 an invalid
        option of a download. -32600 to -32700 are those of JSON-RPC.

        ## Methods
        """
}
