/// Python with packages that others wrote to call aria2, in a folder of its own beside what is built.
package enum PythonClients {
    private static let checkout = FileSystem.folder(of: #filePath) + "/../../.."

    /// Its Python.
    package static let path = checkout + "/.build/clients/bin/python"

    /// Made at first, which needs PyPI.
    package static let areThere: Bool = {
        let script = checkout + "/Scripts/python-clients"
        return (try? PawlProcess.run(script, [], atMost: .seconds(300)))?.exit == .code(0)
    }()
}
