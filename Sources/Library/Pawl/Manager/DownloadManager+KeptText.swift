import PawlBase
import PawlQueue

extension DownloadManager {
    /// A text stored with ``keep(_:as:)``; `nil` if there is none.
    package func keptText(_ name: String) async throws(PawlError) -> String? {
        try await query { keeper throws(Failure) in
            if let text = keeper.values["kept \(name)"] { return text }
            return try keeper.store.value("kept \(name)")
        }
    }

    /// Stores a text for ``keptText(_:)``, also for later managers of this root.
    package func keep(_ text: String, as name: String) async throws(PawlError) {
        try await step { $0.keeper.values["kept \(name)"] = text }
    }
}
