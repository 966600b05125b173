@testable import Pawl
@testable import PawlBase
@testable import PawlResumeData

/// Apple's resume data: a parsed value can be written, and is the same when it is parsed again.
enum ResumeDataLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        guard input.flag() else { return try checkAny(input.rest()) }
        let (received, address, name) = (input.number(), input.text(), input.text())
        let made = AppleResumeData(AppleRequest(address: address), received: received, partialName: name)
        guard let again = try? AppleResumeData(made.bytes) else {
            return try hold(address.isEmpty, "a written value is refused")
        }
        try hold(again.address == address && again.received == received, "it is another download")
        try hold(again.currentRequest?.address == address, "its request has another URL")
    }

    private static func checkAny(_ bytes: [UInt8]) throws(BrokenLaw) {
        if let list = try? PropertyList(bytes) {
            // NaN is unequal to itself, so the bytes are compared.
            let written = list.bytes
            try hold((try? PropertyList(written))?.bytes == written, "a property list changes when written")
        }
        guard let data = try? AppleResumeData(bytes) else { return }
        try hold(data.received >= 0 && !data.address.isEmpty, "\(data.received) bytes of \(data.address)")
        _ = (data.currentRequest, data.originalRequest, data.entityTag, data.serverDate, data.validators)
        if let name = data.partialName { try hold(!name.utf8.contains(.slash), "a path: \(name)") }
        guard let again = try? AppleResumeData(data.bytes) else {
            throw BrokenLaw(description: "a repaired value is refused")
        }
        try hold(again.address == data.address && again.received == data.received, "it changes when written")
    }
}

/// JSON as clients of the service send it.
enum JSONLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        guard let value = try? JSON.parse(input.rest()) else { return }
        let again = try? JSON.parse(value.utf8)
        try hold(again == value, "\(value.text) is read as \(again?.text ?? "nothing")")
        try hold(!value.utf8.contains(.lineFeed), "a line end within a line")
        if let listing = try? ListingOptions(value) {
            try hold((try? ListingOptions(listing.json)) == listing, "what is listed changes when written")
        }
    }
}
