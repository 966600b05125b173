// Failures and messages in parts, as the queue stores them beside the sentence.

extension Failure {
    /// Everything but the refused option.
    package var stored: JSON {
        var members = [
            JSON.Member("code", .number(code.rawValue)), JSON.Member("what", .string(what)),
            JSON.Member("place", .string(place)), JSON.Member("why", .string(why)),
            JSON.Member("remedy", .string(remedy.text)),
        ]
        if let cause { members.append(JSON.Member("cause", cause.stored)) }
        if let status { members.append(JSON.Member("status", .number(status))) }
        if let retryAfter { members.append(JSON.Member("retryAfter", .number(retryAfter.nanoseconds / 1_000_000_000))) }
        return .object(members)
    }

    /// `nil` if it is none.
    package init?(stored: JSON) {
        guard let code = stored["code"]?.integer.flatMap({ UInt8(exactly: $0) }), let what = stored["what"]?.string,
            let place = stored["place"]?.string, let why = stored["why"]?.string
        else { return nil }
        let remedy = Remedy(stored["remedy"]?.string ?? "")
        if let cause = stored["cause"].flatMap({ LocalizableMessage(stored: $0) }), cause.description == why {
            self.init(Code(rawValue: code), what, at: place, because: cause, remedy: remedy)
        } else {
            self.init(Code(rawValue: code), what, at: place, because: why, remedy: remedy)
        }
        status = stored["status"]?.integer.flatMap { Int(exactly: $0) }
        retryAfter = stored["retryAfter"]?.integer.flatMap {
            (0...Int64(Int32.max)).contains(Int64($0)) ? .seconds(Double($0)) : nil
        }
    }
}

extension LocalizableMessage {
    fileprivate var stored: JSON {
        let values = values.map { value -> JSON in
            switch value {
            case .text(let text): .string(text)
            case .message(let message): ["message": message.stored]
            case .failure(let failure): ["failure": failure.stored]
            }
        }
        return ["id": .string(id), "form": .string(form), "values": .array(values)]
    }

    fileprivate init?(stored: JSON) {
        guard let id = stored["id"]?.string, let form = stored["form"]?.string else { return nil }
        var values: [Value] = []
        for value in stored["values"]?.array ?? [] {
            if let text = value.string {
                values.append(.text(text))
            } else if let message = value["message"].flatMap({ LocalizableMessage(stored: $0) }) {
                values.append(.message(message))
            } else if let failure = value["failure"].flatMap({ Failure(stored: $0) }) {
                values.append(.failure(failure))
            } else {
                return nil
            }
        }
        self.init(id, Text(form: form, values: values))
    }
}
