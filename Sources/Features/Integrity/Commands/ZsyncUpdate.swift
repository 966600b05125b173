import Pawl
package import PawlBase
package import PawlGet
import PawlIntegrity

/// `pawl get --zsync`: fetches the blocks that older versions of the file do not have.
package struct ZsyncUpdate: Sendable {
    private let control: ZsyncControl
    private let plan: GetPlan
    private let sources: [String]
    /// The control file, for users.
    private let described: String

    package init(_ place: String, _ plan: GetPlan) throws(Failure) {
        self.plan = plan
        let options = plan.options
        control = try ReadMaterial.zsync(at: place, of: options)
        guard plan.items.count <= 1, options.metalinks.isEmpty, options.inputFiles.isEmpty else {
            throw Failure(
                .badOption, "cannot use", at: "--zsync", because: "it describes a single file, but there are several")
        }
        guard plan.stream == nil else {
            throw Failure(.badOption, "cannot use", at: "--zsync", because: "the file is written to a stream")
        }
        guard options.download.range == nil else {
            throw Failure(.badOption, "cannot use", at: "--range", because: "--zsync makes the whole file")
        }
        described = ReadMaterial.shown(place)
        sources = try control.sources(at: place, given: plan.items.map(\.source)) + options.download.mirrors
    }

    package func run() throws(Failure) -> Int32 {
        let options = try plan.options.resolved()
        let address = try WebAddress.parse(sources[0]).address
        let stated = control.fileName.isEmpty ? nil : FileName.safe(control.fileName)
        let name =
            options.fileName ?? stated
            ?? NamingPolicy.choose(.url, address: address, head: nil, given: [address], charsets: .system)
        let seeds = plan.options.seeds.map { ($0, ResolvedPath($0)?.path) }
        for (given, path) in seeds where path == nil {
            throw Failure(.cannotOpen, "cannot open", at: given, because: "there is no such file", remedy: "")
        }
        let path = options.folder + "/" + name
        let own = ResolvedPath(path)
        let replaces = own.map { own in seeds.contains { $0.1.hasSameBytes(as: own.path) } } ?? false
        if own != nil, !replaces, [.fail, .skip].contains(options.existingFile) {
            // Nothing is requested but the response that such a download begins with.
            let item = GetPlan.Item(source: sources[0], mirrors: Array(sources.dropFirst()), lines: [])
            let plan = try GetPlan(plan.options, items: [item]) { (_, options) in options.output = "./" + name }
            return try GetSession(plan).run()
        }
        let replaced = replaces ? try FileDigests(path).stamp : nil
        // A file of that name that stays may have blocks as well.
        let files = seeds.map(\.0) + (own != nil && !replaces ? [path] : [])
        var common = plan.options
        common.output = nil
        return try SeededDownload(
            seed: .blocks(control, files: files), sources: sources,
            folder: replaces ? own?.folder ?? options.folder : options.folder,
            name: replaces ? own?.name ?? name : name, length: control.length,
            replaces: replaces || options.existingFile == .overwrite, replaced: replaced, checksums: [control.checksum],
            described: described, options: common
        ).run()
    }
}

extension ZsyncControl {
    /// The URLs of the file: those given, else the control file's, resolved against its own.
    func sources(at place: String, given: [String]) throws(Failure) -> [String] {
        guard given.isEmpty else { return given }
        if let parsed = try? WebAddress.parse(address), address.contains("://") { return [parsed.address.text] }
        guard ReadMaterial.isURL(place) else {
            throw Failure(
                .badOption, "cannot use the zsync control file", at: place,
                because: "the URL in it is relative to that of the control file",
                remedy: "give the URL of the file, or that of the control file")
        }
        return [try WebAddress.parse(place).address.resolving(address).text]
    }
}
