import PawlTestKit

extension TemporaryFolder {
    /// Writes a file and returns its path.
    func file(_ name: String, _ text: String) throws -> String {
        try FileSystem.write(Array(text.utf8), to: path(name))
        return path(name)
    }
}
