import Pawl
import PawlCore

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
        if let output = own.output,
            output.utf8.first == UInt8(ascii: "/") || output.pathParts().contains("..")
        {
            throw Failure(
                .badOption,
                "cannot use",
                at: "--output \(output) \(suffix)",
                because: "it leads out of the folder",
                remedy: "name the folder with dir="
            )
        }
        func sets(_ options: Set<OptionID>) -> String? {
            DownloadOption.table.first {
                options.contains($0.id)
                    && !$0.texts(of: own.download).hasSameBytes(as: $0.texts(of: common.download))
            }?.name
        }
        let leading: Set<OptionID> = [
            .proxy, .noProxy, .addressOverrides, .endpoint, .verifiesPeer, .authorityFile,
        ]
        guard let leader = sets(leading) else { return }
        if let login = sets([.netrc, .cookieFile, .certificate, .key, .profile]) {
            throw Failure(
                .badOption,
                "cannot use",
                at: "--\(login) \(suffix)",
                because: "\(leader) below the same URL could send its secrets elsewhere",
                remedy: "give one of them on the command line"
            )
        }
        own.download.usesOwnersSecrets = false
    }
}
