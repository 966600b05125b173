/// Sentences that are written in more than one place.
extension LocalizableMessage {
    static func sizeChanged(from before: Int64, to now: Int64) -> LocalizableMessage {
        LocalizableMessage("size-changed", "it had \(before) bytes and has \(now) now")
    }

    static func fewerThanOnDisk(_ size: Int64) -> LocalizableMessage {
        LocalizableMessage("size-below-bytes-on-disk", "it has \(size) bytes, fewer than are on disk")
    }

    package static func entityTagChanged(from before: String, to now: String) -> LocalizableMessage {
        LocalizableMessage("etag-changed", "its ETag was \(before) and is \(now) now")
    }

    package static func httpStatus(_ status: Int) -> LocalizableMessage {
        let reason = HTTPStatus.reason(of: status).map { " \($0)" } ?? ""
        return LocalizableMessage("http-status", "the server returned \(status)\(reason)")
    }
}
