package import Pawl
package import PawlBase

/// Events and downloads in Pawl's own JSON.
///
/// Documentation/JSON.md specifies the fields.
package enum ServiceJSON {
    static func json(_ event: DownloadEvent) -> JSON {
        var members = [
            JSON.Member("event", .string(word(event.kind))), JSON.Member("id", .string(event.id.description)),
        ]
        switch event.kind {
        case .state(let state): members.append(JSON.Member("state", .string(state.rawValue)))
        case .started(let name, let total, let resumedAt):
            members.append(JSON.Member("name", .string(name)))
            members.append(JSON.Member("total", total.map { .number($0) } ?? .null))
            members.append(JSON.Member("resumedAt", .number(resumedAt)))
        case .notice(let notice): members.append(JSON.Member("message", .string(notice.description)))
        case .retry(let error, let delay):
            members += self.members(error)
            members.append(JSON.Member("delay", decimal(delay.seconds, places: 3)))
        case .finished(let file):
            members.append(JSON.Member("path", .string(file.path)))
            members.append(JSON.Member("length", .number(file.length)))
            members.append(JSON.Member("received", .number(file.received)))
            members.append(JSON.Member("seconds", decimal(file.duration.seconds, places: 3)))
            members.append(JSON.Member("wasThere", .bool(file.wasThere)))
            members.append(JSON.Member("verification", file.verification?.json ?? .null))
            if !file.others.isEmpty { members.append(JSON.Member("others", .array(file.others.map { .string($0) }))) }
            if !file.gaps.isEmpty { members.append(JSON.Member("gaps", .array(file.gaps.map { .string($0) }))) }
        case .failed(let error): members += self.members(error)
        case .added, .changed, .queueChanged: break
        case .missed(let count): members.append(JSON.Member("count", .number(count)))
        }
        return .object(members)
    }

    private static func word(_ kind: DownloadEvent.Kind) -> String {
        switch kind {
        case .state: "state"
        case .started: "started"
        case .notice: "notice"
        case .retry: "retry"
        case .finished: "finished"
        case .failed: "failed"
        case .added: "added"
        case .changed: "changed"
        case .queueChanged: "queue"
        case .missed: "missed"
        }
    }

    static func members(_ error: PawlError) -> [JSON.Member] {
        [
            JSON.Member("code", .number(error.code.rawValue)), JSON.Member("message", .string(error.description)),
            JSON.Member("what", .string(error.what)), JSON.Member("place", .string(error.place)),
            JSON.Member("why", .string(error.why)), JSON.Member("remedy", .string(error.remedy)),
        ] + (error.cause.map { [JSON.Member("cause", .object(members($0)))] } ?? [])
            + (error.failure.refused.flatMap(DownloadOption.option).map { [JSON.Member("option", .string($0.name))] }
                ?? [])
    }

    /// A message with its parts, for translation.
    static func members(_ message: LocalizableMessage) -> [JSON.Member] {
        let values = message.values.map { value -> JSON in
            switch value {
            case .text(let text): .string(text)
            case .message(let message): .object(members(message))
            case .failure(let failure): .object(members(PawlError(failure)))
            }
        }
        return [
            JSON.Member("message", .string(message.description)), JSON.Member("messageID", .string(message.id)),
            JSON.Member("form", .string(message.form)), JSON.Member("values", .array(values)),
        ]
    }

    /// A download as an object.
    package static func json(_ snapshot: DownloadSnapshot) -> JSON {
        .object([
            JSON.Member("id", .string(snapshot.id.description)), JSON.Member("url", .string(snapshot.source)),
            JSON.Member("state", .string(snapshot.state.rawValue)),
            JSON.Member("name", snapshot.name.map { .string($0) } ?? .null),
            JSON.Member("folder", .string(snapshot.folder)), JSON.Member("written", .number(snapshot.written)),
            JSON.Member("total", snapshot.total.map { .number($0) } ?? .null),
            JSON.Member("percent", snapshot.percent.map { decimal($0, places: 2, truncated: true) } ?? .null),
            JSON.Member("received", .number(snapshot.received)), JSON.Member("speed", .number(snapshot.speed)),
            JSON.Member("smoothedSpeed", .number(snapshot.smoothedSpeed)),
            JSON.Member("timeLeft", snapshot.timeLeft.map { decimal($0.seconds, places: 1) } ?? .null),
            JSON.Member("connections", .number(snapshot.connections)),
            JSON.Member("retryIn", snapshot.retryIn.map { decimal($0.seconds, places: 1) } ?? .null),
            JSON.Member("verification", snapshot.verification?.json ?? .null),
            JSON.Member("segments", snapshot.segments?.json ?? .null),
            JSON.Member("retryAttempt", snapshot.retry.map { .number($0.attempt) } ?? .null),
            JSON.Member("retryLimit", snapshot.retry.map { .number($0.limit) } ?? .null),
            JSON.Member("retryReason", snapshot.retry.map { .string($0.reason) } ?? .null),
            JSON.Member("waitsForHost", snapshot.waitsForHost.map { .string($0) } ?? .null),
            JSON.Member("hostLimit", snapshot.hostLimit?.json ?? .null),
            JSON.Member("type", snapshot.contentType.map { .string($0) } ?? .null),
            JSON.Member("group", snapshot.group.map { .string($0) } ?? .null),
            JSON.Member("priority", .number(snapshot.priority)),
            JSON.Member("addedAt", snapshot.addedAt.map { .number($0) } ?? .null),
            JSON.Member("startAt", snapshot.startAt.map { .number($0) } ?? .null),
            JSON.Member("startedAt", snapshot.startedAt.map { .number($0) } ?? .null),
            JSON.Member("endedAt", snapshot.endedAt.map { .number($0) } ?? .null),
            JSON.Member("description", snapshot.taskDescription.map { .string($0) } ?? .null),
            JSON.Member("file", snapshot.file.map { .string($0.rawValue) } ?? .null),
            JSON.Member("error", snapshot.error.map { .object(members($0)) } ?? .null),
        ])
    }

    /// With at most this many decimal places; `null` if it is not finite.
    ///
    /// `truncated`: not rounded, so that a percentage is 100 only at the end.
    static func decimal(_ value: Double, places: Int, truncated: Bool = false) -> JSON {
        guard value.isFinite, abs(value) < 1e15 else { return .null }
        var scale: Int64 = 1
        for _ in 0..<places { scale *= 10 }
        let scaled = abs(value) * Double(scale)
        let whole = Int64(truncated ? scaled + 4 * scaled.ulp : scaled.rounded())
        let digits = String(whole % scale)
        let fraction = String(repeating: "0", count: places - digits.count) + digits
        return .number((value < 0 && whole > 0 ? "-" : "") + "\(whole / scale).\(fraction)")
    }
}
