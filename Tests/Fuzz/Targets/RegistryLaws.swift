@testable import PawlBase
@testable import PawlRegistry

/// What registries send, references to manifests, and files with logins.
enum RegistryLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let bytes = input.rest()
        let text = String(decoding: bytes, as: UTF8.self)
        for scheme in ["", "oci://", "docker://", "ollama://"] {
            if let reference = try? RegistryReference(scheme + text) { try check(reference) }
        }
        if let (document, _) = try? RegistryDocument.parse(bytes, type: nil) { try check(document) }
        if let token = RegistryToken(bytes) { try hold(FieldText.isSafe(token.text), "a token that cannot be sent") }
        var logins = RegistryLogins()
        logins.add(bytes)
        if let helper = logins.helper(for: "r.example") {
            let name = helper.program.utf8
            try hold(!name.contains(.slash) && !name.contains(0), "a program that is a path: \(helper.program)")
        }
        try checkAnswer(bytes)
        let login = logins.login(to: "r.example", "a")
        let url = WebAddress(scheme: .https, host: "registry.r.example", port: 443, path: "/v2/", query: nil)
        let known = login ?? RegistryLogin(user: "user", password: "secret")
        if case .token(let request)? = try? TokenQuestion(LoginChallenge.parse(text), from: url, of: "a", known) {
            let mayHave =
                ["registry.r.example", "r.example"].contains(request.address.host) && request.address.scheme == .https
            let hasLogin = !request.lines.isEmpty || !request.body.isEmpty
            try hold(mayHave || !hasLogin, "a login for \(request.address.text)")
            try hold(request.lines.allSatisfy(FieldText.isSafe), "a line that cannot be sent")
        }
        let code = RegistryRefusal.code(in: bytes)
        let refusal = RegistryRefusal(status: 400, code: code, hasLogin: false, registry: "r")
        let isPrintable = !refusal.reason.description.utf8.contains(where: \.isControl)
        try hold(isPrintable, "a control character in a message")
        if let digest = RegistryDigest("sha256:" + String(repeating: "0", count: 64)) {
            let image = Descriptor(type: "t", digest: digest, size: 1)
            if let index = ImageLayout.index(bytes, adding: image, tag: "t") {
                try hold(ImageLayout.index(index, adding: image, tag: "t") != nil, "an index of ours is none")
            }
        }
    }

    private static func checkAnswer(_ bytes: [UInt8]) throws(BrokenLaw) {
        for code in [Int32(0), 1] {
            do throws(CredentialHelper.Flaw) {
                guard let login = try CredentialHelper.login(bytes, exitCode: code) else { continue }
                let isSafe = !(login.user + login.password).utf8.contains(where: \.isControl)
                guard isSafe else { throw CredentialHelper.Flaw(why: "\n") }
            } catch {
                try hold(!error.why.utf8.contains(where: \.isControl), "a control character of a program's answer")
            }
        }
    }

    private static func check(_ reference: RegistryReference) throws(BrokenLaw) {
        try hold(
            (try? RegistryReference(reference.text))?.identifier == reference.identifier,
            "its text means another: \(reference.text)")
        let path = OllamaLayout.manifest(reference).pathParts(keepsEmpty: true)
        try hold(path.allSatisfy { FileName.isPossible(String($0)) }, "a path that leads elsewhere: \(path)")
        let url = RegistryAccess().manifest(reference)
        try hold(!url.path.pathParts().contains(".."), "a URL that leads elsewhere: \(url.text)")
        try hold(
            reference.registry == url.authority || reference.registry == "\(url.host):443", "another host: \(url.text)")
    }

    private static func check(_ document: RegistryDocument) throws(BrokenLaw) {
        let blobs: [Descriptor]
        switch document {
        case .index(let images): blobs = images
        case .manifest(let found, _): blobs = found
        }
        for blob in blobs {
            try hold(blob.size >= 0 && RegistryDigest(blob.digest.text) == blob.digest, "a blob without size or digest")
            try hold(FileName.isPossible(ImageLayout.blob(blob.digest).name), "a name that leads elsewhere")
        }
    }
}
