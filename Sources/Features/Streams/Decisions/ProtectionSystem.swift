import PawlBase

/// Systems of digital rights management, by the UUIDs under which DASH-IF registered them.
package enum ProtectionSystem {
    /// The name of a UUID as text, with or without `urn:uuid:`; `nil` for an unknown one.
    package static func name(of identifier: String) -> String? {
        let bytes = identifier.utf8.map(\.lowercased)
        let prefix = Array("urn:uuid:".utf8)
        let digits = bytes.dropFirst(bytes.starts(with: prefix) ? prefix.count : 0).filter { $0 != .dash }
        return names[String(decoding: digits, as: UTF8.self)]
    }

    private static let names = [
        "edef8ba979d64acea3c827dcd51d21ed": "Widevine",
        "9a04f07998404286ab92e65be0885f95": "PlayReady",
        "94ce86fb07ff4f43adb893d2fa968ca2": "FairPlay",
        "e2719d58a985b3c9781ab030af78d30e": "ClearKey",
        "1077efecc0b24d02ace33c1e52e2fb4b": "ClearKey",
        "5e629af538da4063897797ffbd9902d4": "Marlin",
        "f239e769efa348509c16a903c6932efb": "Adobe Primetime",
        "adb41c242dbf4a6d958b4457c0d27b95": "Nagra",
        "80a6be7e14484c379e70d5aebe04c8d2": "Irdeto",
        "9a27dd82fde247258cbc4234aa06ec09": "Verimatrix",
        "3d5e6d359b9a41e8b843dd3c6e72c42c": "ChinaDRM",
    ]
}
