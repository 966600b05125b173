/// Whether what a server offers now is the content that the bytes on disk belong to.
package enum Match: Hashable, Sendable {
    /// A strong validator proves it.
    case same
    /// Nothing speaks against it, but only a comparison of bytes proves it.
    case soft
    /// It is other content, with what was known and what was said.
    case changed(Wording)
}

extension ContentIdentity {
    /// Compares with what an answer says (RFC 9110 §8.8.1: strong tags prove equality byte for byte; dates and weak tags
    /// do not).
    package func match(_ said: ContentIdentity) -> Match {
        if let total, let other = said.total, total != other {
            return .changed("it had \(total) bytes and has \(other) now")
        }
        let sameDate = lastModified.flatMap { mine in said.lastModified.map { $0 == mine } }
        if let mine = entityTag, let theirs = said.entityTag {
            if mine.opaque == theirs.opaque { return mine.isWeak || theirs.isWeak ? .soft : .same }
            // Tokenised URLs get a new tag with each answer; date and length then speak for the content.
            if sameDate == true { return .soft }
            return .changed("its tag was \(mine.text) and is \(theirs.text) now")
        }
        if sameDate == false { return .changed("its Last-Modified is another now") }
        return .soft
    }

    /// Whether equality with this identity can be proved by a header alone.
    package var isStrong: Bool { entityTag.map { !$0.isWeak } ?? false }
}

extension EntityTag {
    /// As it stands in a header field.
    package var text: String { (isWeak ? "W/" : "") + "\"\(opaque)\"" }
}
