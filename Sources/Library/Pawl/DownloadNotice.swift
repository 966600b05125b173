package import PawlBase

/// A decision worth reporting, with its evidence, such as "the server ignored Range and sent the whole file:
/// started over from 0".
public struct DownloadNotice: Sendable, Hashable, CustomStringConvertible {
    /// The same in parts, for translation.
    package let message: LocalizableMessage

    package init(_ message: LocalizableMessage) { self.message = message }

    /// The sentence, in English.
    public var description: String { message.description }
}
