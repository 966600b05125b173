import PawlCore
import PawlEngine

extension DownloadManager {
    /// A text that the queue keeps for its owner; `nil` if there is none.
    package func keptText(_ name: String) async throws(PawlError) -> String? {
        try await ask { keeper throws(Failure) in
            if let text = keeper.values["kept \(name)"] { return text }
            return try keeper.store.value("kept \(name)")
        }
    }

    /// Keeps a text for ``keptText(_:)``, also for the next manager of this root.
    package func keep(_ text: String, as name: String) async throws(PawlError) {
        try await ask { keeper throws(Failure) in keeper.values["kept \(name)"] = text }
    }
}
