import PawlCore
import PawlEngine

extension DownloadManager {
    /// A text that the queue keeps for its owner; `nil` if there is none.
    package func keptText(_ name: String) async throws(PawlError) -> String? {
        try await ask { keeper throws(Failure) in
            if let text = keeper.settings["kept \(name)"] { return text }
            return try keeper.store.setting("kept \(name)")
        }
    }

    /// Keeps a text for ``keptText(_:)``, also for the next manager of this root.
    package func keep(_ text: String, as name: String) async throws(PawlError) {
        try await ask { keeper throws(Failure) in keeper.settings["kept \(name)"] = text }
    }
}
