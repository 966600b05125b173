import Pawl
import PawlBase
import PawlWeb

/// One download to be added.
struct AddItem {
    /// It fails when an option has an invalid value: the other downloads of the call are added.
    let request: Result<DownloadRequest, Failure>
    /// What is listed, if the URL stands for several files.
    private(set) var listing: (ListingOptions, CollectionSource)?
    private(set) var hasFolder = false

    /// `defaults` are the options for which it gives none.
    init(_ object: JSON, _ rights: RPCRights, _ defaults: DownloadOptions) throws(RPCError) {
        if let source = object.string {
            var request = DownloadRequest(source)
            request.options = defaults
            request.choosesFolder = false
            request.options.usesOwnersSecrets = rights.mayNameFiles
            request.takeStreams()
            self.request = .success(request)
            listing = try? Self.listing(of: request, nil)
            return
        }
        let fields = try RPCFields(
            object,
            named: [
                "url", "options", "mirrors", "folder", "group", "priority", "start", "description", "pieces",
                "checkExisting", "ownersSecrets", "privateAddresses", "listing", "stream", "asFile", "startAt",
            ])
        guard let source = try fields.text("url") else { throw .invalid("a download needs a url") }
        var request = DownloadRequest(source)
        request.options = defaults
        var refusal: Failure?
        if let members = try fields.members("options") {
            refusal = try AddItem.take(members, rights, into: &request.options)
        }
        request.options.usesOwnersSecrets = try fields.flag("ownersSecrets") ?? true && rights.mayNameFiles
        request.options.deniesPrivateAddresses = try fields.flag("privateAddresses") == false
        if let folder = try fields.text("folder") { (request.options.folder, hasFolder) = (folder, true) }
        request.choosesFolder = hasFolder
        if let mirrors = try fields.texts("mirrors") { request.options.mirrors = mirrors }
        request.options.taskDescription = try fields.text("description")
        request.group = try fields.text("group")
        if let text = try fields.text("pieces") {
            guard let pieces = PieceHashes(text: text) else {
                throw .invalid("pieces must be TYPE LENGTH HEX, with the digests of all pieces")
            }
            request.pieces = pieces
        }
        request.checksExistingFile = try fields.flag("checkExisting") ?? false
        request.priority = try fields.integer("priority", in: .min ... .max) ?? 0
        switch try fields.text("start") {
        case nil, "enqueued": request.start = .enqueued
        case "paused": request.start = .paused
        case "now": request.start = .now
        case .some: throw .invalid("start must be enqueued, paused or now")
        }
        if let members = try fields.members("stream") {
            do throws(Failure) { request.stream = try StreamOptions(.object(members)) } catch { refusal = error }
        }
        if try fields.flag("asFile") != true { request.takeStreams() }
        request.startAt = try fields.integer("startAt", in: 0...Int(Int32.max) * 4).map { Int64($0) }
        if refusal == nil {
            let members = try fields.members("listing")
            do throws(Failure) { listing = try Self.listing(of: request, members) } catch { refusal = error }
        }
        self.request = refusal.map { .failure($0) } ?? .success(request)
    }

    /// A URL stands for several files if a listing is given, and without one if it cannot be one file.
    ///
    /// Throws code 28 if the listing is invalid, or given for one file.
    private static func listing(
        of request: DownloadRequest, _ members: [JSON.Member]?
    ) throws(Failure) -> (ListingOptions, CollectionSource)? {
        var listing = ListingOptions()
        if let members { listing = try ListingOptions(.object(members)) }
        let kind = try CollectionSource(request.source, isRecursive: listing.isRecursive, request.options)
        guard let kind else {
            guard members != nil else { return nil }
            throw Failure(
                .badOption, "cannot list", at: Redaction.address(request.source), because: "it names a file",
                remedy: "end it with / for a folder")
        }
        return members == nil && kind.namesFile ? nil : (listing, kind)
    }

    /// Each option's value is a string or an array of strings; returns the failure of an invalid one.
    private static func take(
        _ members: [JSON.Member], _ rights: RPCRights, into options: inout DownloadOptions
    ) throws(RPCError) -> Failure? {
        var values: [(name: String, value: String)] = []
        for member in members {
            guard DownloadOptions.hasOption(named: member.name) else {
                throw .invalid("there is no option \(member.name)")
            }
            for line in member.value.array ?? [member.value] {
                guard let text = line.string else {
                    throw .invalid("the option \(member.name) must be a string or an array of strings")
                }
                values.append((name: member.name, value: text))
            }
        }
        do throws(Failure) { try options.take(values) } catch { return error }
        if options.readsFiles, !rights.mayNameFiles {
            throw RPCError(
                Int(PawlError.Code.badOption.rawValue),
                "options that name local files are accepted over the Unix socket only: use 'pawl add'")
        }
        return nil
    }
}
