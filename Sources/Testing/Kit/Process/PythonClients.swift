/// Python with third-party packages that call aria2, in a separate folder beside the build products.
package enum PythonClients {
    /// The path of its Python.
    package static let path = Checkout.root + "/.build/clients/bin/python"

    /// Created on first use, which needs PyPI.
    package static let areThere: Bool = {
        let script = Checkout.root + "/Scripts/python-clients"
        return (try? PawlProcess.run(script, [], atMost: .seconds(300)))?.exit == .code(0)
    }()
}
