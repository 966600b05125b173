/// Python with third-party packages that call aria2, in a separate folder beside the build products.
package enum PythonClients {
    private static let checkout = FileSystem.folder(of: #filePath) + "/../../.."

    /// The path of its Python.
    package static let path = checkout + "/.build/clients/bin/python"

    /// Created on first use, which needs PyPI.
    package static let areThere: Bool = {
        let script = checkout + "/Scripts/python-clients"
        return (try? PawlProcess.run(script, [], atMost: .seconds(300)))?.exit == .code(0)
    }()
}
