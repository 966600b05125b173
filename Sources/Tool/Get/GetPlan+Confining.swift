import Glibc
import Pawl
import PawlBase

extension DownloadOptions {
    /// As curl and wget do: overwriting a symbolic link that was named on the command line replaces the file that it leads
    /// to, and the link stays.
    ///
    /// Names that others choose (a server, a list, a Metalink) are not followed: there the link itself is replaced.
    mutating func followLink() {
        guard existingFile == .overwrite, let fileName else { return }
        var status = stat()
        let path = "\(folder)/\(fileName)"
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK, unsafe stat(path, &status) == 0,
            status.st_mode & S_IFMT == S_IFREG, let target = unsafe realpath(path, nil)
        else { return }
        defer { unsafe free(target) }
        let parts = unsafe String(cString: target).pathParts()
        guard let name = parts.last else { return }
        folder = "/" + parts.dropLast().joined(separator: "/")
        self.fileName = String(name)
    }
}

extension GetOptions {
    /// Throws code 28 if a symbolic link in the file's path, which a list or a Metalink states, leads out of its folder.
    func checkLinks() throws(Failure) {
        guard let output, output.utf8.first != UInt8(ascii: "/") else { return }
        let folders = output.pathParts().dropLast()
        guard !folders.isEmpty, !folders.contains("..") else { return }
        try RootedFiles.check(folders.joined(separator: "/"), below: folder ?? ".")
    }
}

extension GetPlan {
    /// Limits what the lines below a URL may do: others write lists too.
    ///
    /// A name stays in its folder. Lines that decide where requests go, or who may respond to them, neither name files
    /// with logins nor get the user's own.
    static func confine(_ own: inout GetOptions, over common: GetOptions, _ line: Int) throws(Failure) {
        let suffix = "(below line \(line) of the input file)"
        if let output = own.output, output.utf8.first == UInt8(ascii: "/") || output.pathParts().contains("..") {
            throw Failure(
                .badOption, "cannot use", at: "--output \(output) \(suffix)", because: "it leads out of the folder",
                remedy: "name the folder with dir=")
        }
        func sets(_ options: Set<OptionID>) -> String? {
            DownloadOption.table.first {
                options.contains($0.id) && !$0.texts(of: own.download).hasSameBytes(as: $0.texts(of: common.download))
            }?.name
        }
        let leading: Set<OptionID> = [.proxy, .noProxy, .addressOverrides, .endpoint, .verifiesPeer, .authorityFile]
        guard let leader = sets(leading) else { return }
        if let login = sets([.netrc, .cookieFile, .certificate, .key, .profile]) {
            throw Failure(
                .badOption, "cannot use", at: "--\(login) \(suffix)",
                because: "\(leader) below the same URL could send its secrets elsewhere",
                remedy: "give one of them on the command line")
        }
        own.download.usesOwnersSecrets = false
    }
}
