package import PawlBase

extension DownloadOptions {
    /// What restricts a download of another party, as fields of `pawl.add`.
    package var restrictions: [JSON.Member] {
        [("ownersSecrets", usesOwnersSecrets), ("privateAddresses", !deniesPrivateAddresses)].compactMap {
            name, isAllowed in
            isAllowed ? nil : JSON.Member(name, .bool(false))
        }
    }

    /// What differs from the defaults, as `pawl.add` takes it; mirrors and folder are apart.
    package var exported: JSON {
        let plain = DownloadOptions()
        return .object(
            DownloadOption.table.compactMap { option in
                let texts = option.texts(of: self)
                guard option.name != "mirror", !texts.hasSameBytes(as: option.texts(of: plain)) else { return nil }
                if option.placeholder == nil { return JSON.Member(option.name, .string("true")) }
                let isList = option.name == "header"
                return JSON.Member(
                    option.name, isList ? .array(texts.map { .string($0) }) : .string(texts.first ?? ""))
            })
    }
}
