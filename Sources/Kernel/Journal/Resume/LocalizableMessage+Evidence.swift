package import PawlBase

/// Sentences that are written in more than one place.
extension LocalizableMessage {
    package static func sizeChanged(from before: Int64, to now: Int64) -> LocalizableMessage {
        LocalizableMessage("size-changed", "it had \(before) bytes and has \(now) now")
    }

    package static func fewerThanOnDisk(_ size: Int64) -> LocalizableMessage {
        LocalizableMessage("size-below-bytes-on-disk", "it has \(size) bytes, fewer than are on disk")
    }

    package static func entityTagChanged(from before: String, to now: String) -> LocalizableMessage {
        LocalizableMessage("etag-changed", "its ETag was \(before) and is \(now) now")
    }

    package static func httpStatus(_ status: Int) -> LocalizableMessage {
        LocalizableMessage("http-status", "the server returned \(status)\(reason(of: status))")
    }

    /// A status with a wait that the server requested, rounded up.
    package static func httpStatus(_ status: Int, wait: Interval) -> LocalizableMessage {
        let seconds = Int64(wait.seconds.rounded(.up))
        let (minutes, hours) = ((seconds + 59) / 60, (seconds + 3599) / 3600)
        let span = wait >= RetryAfter.longest ? "≥ 24 h" : minutes < 120 ? "\(minutes) min" : "\(hours) h"
        return LocalizableMessage(
            "http-status-wait", "the server returned \(status)\(reason(of: status)) and requested a wait of \(span)")
    }

    private static func reason(of status: Int) -> String { HTTPStatus.reason(of: status).map { " \($0)" } ?? "" }

    /// The status that ``httpStatus(_:)`` states.
    package var httpStatus: String? {
        guard ["http-status", "http-status-wait"].contains(id), case .text(let status)? = values.first else {
            return nil
        }
        return status
    }
}
