import Pawl
import PawlBase
import PawlCore
import PawlJournal
import PawlWeb

extension ServiceMethod {
    static let table: [ServiceMethod] = reading + changing

    private static let reading: [ServiceMethod] = [
        ServiceMethod(
            name: "pawl.status", parameters: "[]",
            result:
                "{version, root, pid, running, sleeping, waiting, waitingForDisk, paused, finished, failed, ended, speed, connections, isPaused, pausedUntil, portRefusal, troubles}",
            help:
                "Version, download root and process id of the service; numbers of downloads (sleeping: the running ones that wait for a retry, their host or the network; waiting: for a slot; waitingForDisk: for their disk; ended: finished, failed or removed); total bytes per second and connections. isPaused: whether the timetable pauses all downloads, and pausedUntil when that ends (seconds since 1970, or null). portRefusal: why the service does not listen on a port, else null. troubles: files of the service that are gone, in sentences.",
            example: "[]", isReadOnly: true, body: { methods, _ in try await methods.status() }),
        ServiceMethod(
            name: "pawl.list", parameters: "[{states, group, text, after, limit}]", result: "an array of downloads",
            help:
                "The matching downloads, or those that follow the download with the complete id after. states: waiting (includes running), paused, finished, failed, removed; all but removed if absent. text: part of a name or URL. limit: the largest number of them, at most 10000; all if absent. Every field is optional.",
            example: #"[{"states": ["failed"], "limit": 50}]"#, isReadOnly: true, body: { try await $0.list($1) }),
        ServiceMethod(
            name: "pawl.collections", parameters: "[]", result: "an array of collections",
            help:
                "The collections of the queue: URLs that stand for many files. Each has the fields of a download, and files: {listed, isListed, done, running, failed}. Its id begins with g; its downloads that have not finished are those of the group with that name. pawl.show, pawl.pause, pawl.resume and pawl.remove take it.",
            example: "[]", isReadOnly: true, body: { methods, _ in try await methods.collectionRows() }),
        ServiceMethod(
            name: "pawl.running", parameters: "[]", result: "an array of downloads",
            help: "The downloads that have a slot.", example: "[]", isReadOnly: true,
            body: { methods, _ in .array(try await methods.manager.running().map { ServiceJSON.json($0) }) }),
        ServiceMethod(
            name: "pawl.show", parameters: "[ID]",
            result:
                "a download with sources, ranges, lanes, headers, checksum, limit, file, response, stream, parts and log",
            help:
                "Details of one download. ranges: the bytes on disk, as [start, end). lanes: its connections. stream: the options of a stream, as for pawl.add, else null; parts: the names of its files.",
            example: #"["3f2a"]"#, isReadOnly: true, body: { try await $0.show($1) }),
        ServiceMethod(
            name: "pawl.totals", parameters: "[{states, group, text}]",
            result: "{count, written, total, unknownTotals}",
            help: "Number and bytes of the matching downloads; unknownTotals counts those of unknown size.",
            example: #"[{"group": "films"}]"#, isReadOnly: true, body: { try await $0.totals($1) }),
        ServiceMethod(
            name: "pawl.speeds", parameters: "[ID]", result: "an array of numbers",
            help:
                "Bytes per second of a running download in each of the last 300 seconds, the latest last; empty if it does not run.",
            example: #"["3f2a"]"#, isReadOnly: true, body: { try await $0.speeds($1) }),
        ServiceMethod(
            name: "pawl.groups", parameters: "[]", result: "an array of {name, paused, count}",
            help: "The groups that have downloads or are paused, by name.", example: "[]", isReadOnly: true,
            body: { methods, _ in try await methods.groups() }),
        ServiceMethod(
            name: "pawl.limits", parameters: "[]", result: "{slots, limit, timetable, isPaused, pausedUntil}",
            help:
                "Simultaneous downloads, the current limit of all downloads together in bytes per second, and the limits by time of day; null for none. isPaused: whether the timetable pauses all downloads now; pausedUntil: when that ends.",
            example: "[]", isReadOnly: true, body: { methods, _ in try await methods.limits() }),
        ServiceMethod(
            name: "pawl.source", parameters: "[ID]", result: "a URL, or null",
            help: "The URL with its query and credentials. Not available to JSONP callbacks.", example: #"["3f2a"]"#,
            returnsOptions: true, body: { try await $0.source($1) }),
        ServiceMethod(
            name: "pawl.options", parameters: "[ID]",
            result: "{url, options, mirrors, folder, group, priority, hasPassword}",
            help:
                "What pawl.set can change of a download. URLs have their query and credentials; a password is not included.",
            example: #"["3f2a"]"#, returnsOptions: true, body: { try await $0.options($1) }),
        ServiceMethod(
            name: "pawl.export", parameters: "[]", result: "an array for pawl.add",
            help: "The downloads and collections that have not finished, with their options, credentials included.",
            example: "[]",
            returnsOptions: true, body: { methods, _ in try await methods.export() }),
        ServiceMethod(
            name: "pawl.settings", parameters: "[]",
            result: "{options, folder, slots, limit, timetable, rules, atEnd, hooks, webhook}",
            help:
                "options and folder apply to later downloads that give none. rules: as of pawl.rules. atEnd: command if the idle hook runs when the last download has ended, else nothing. hooks: the programs that are run, by event; they can only be set with the options of pawl serve.",
            example: "[]", returnsOptions: true, body: { methods, _ in try await methods.settings() }),
        ServiceMethod(
            name: "pawl.rules", parameters: "[]", result: "an array of {match, folder}",
            help:
                "The rules for the folders of downloads that are added without one; the first that matches counts. When a download has finished, its name and media type are known: if a rule wants another folder then, its file is moved.",
            example: "[]", isReadOnly: true, body: { methods, _ in try await methods.rules() }),
        ServiceMethod(
            name: "pawl.testRules", parameters: "[URL, [{match, folder}, ...] or null]",
            result: "{index, match, folder}, or null",
            help:
                "Which rule gives a new download of the URL its folder, counted from 0: one of those that are given, or else of pawl.rules; null for none. Nothing is requested: a rule for the type counts by the ending of the name.",
            example: #"["https://example.org/film.mkv", [{"match": "type:video", "folder": "Films"}]]"#,
            isReadOnly: true, body: { try await $0.testRules($1) }),
        ServiceMethod(
            name: "rpc.discover", parameters: "[]", result: "an OpenRPC document",
            help: "This reference as an OpenRPC document (open-rpc.org).", example: "[]", isReadOnly: true,
            body: { _, _ in ServiceMethod.openRPC }),
        ServiceMethod(
            name: "pawl.web", parameters: "[]", result: "{url}",
            help: "A one-time link that logs a browser in; it expires after a minute.", example: "[]",
            body: { methods, _ in
                guard let link = methods.page.link() else {
                    throw RPCError(methods.portRefusal ?? "the service does not listen on a port")
                }
                return ["url": .string(link)]
            }),
        ServiceMethod(
            name: "pawl.access", parameters: "[]", result: "{secret, code, isLocal}",
            help:
                "What other clients need: the secret, null if none is required, and a code that once, within a minute, logs a browser in (the page's URL with #code=CODE) or pairs an extension (POST /pair with the code as the body returns {secret}). isLocal: no other machine can reach the port.",
            example: "[]", returnsOptions: true,
            body: { methods, _ in methods.page.access(isLocal: methods.isLocal) }),
    ]

    private static let changing: [ServiceMethod] = [
        ServiceMethod(
            name: "pawl.add",
            parameters:
                "[[URL or {url, options, mirrors, folder, group, priority, start, description, pieces, checkExisting, ownersSecrets, privateAddresses, listing, stream, asFile, startAt}, ...]]",
            result:
                "an array with {id} or {error} for each: an option's invalid value, code 28, refuses its download alone; known is true for a URL that the queue has already: its download is resumed; {id, known, finished} if its file is complete: it is not requested again",
            help:
                "Adds downloads. options: fields as in an input file, each a string or an array of strings; user and password are two fields, and output is a name without a folder. folder: relative to the root; without one, that of the first rule that matches (pawl.rules), else the default. start: enqueued (default), paused, now. startAt: seconds since 1970, until which it is paused. pieces: TYPE LENGTH HEX, the type and length of pieces and the digests of all of them, one after another; each is checked as it completes. checkExisting: a file that has the name is compared with the checksum and the pieces first; a right one is the result, and of a wrong one the wrong pieces are fetched, or all of it. ownersSecrets: false uses no keys, logins, netrc file and proxy login of the service's owner. privateAddresses: false refuses addresses of this machine and of private networks, also after redirects. listing: the URL stands for all files below it, which become a collection (see pawl.collections) in the folder, by default one with the last name of the URL; {} or with rules (texts +GLOB and -GLOB, the last match counts), recursive, maxDepth, newerThan (seconds since 1970), maxSize, maxEntries, maxFolders, robots, links, platform, artifact. Without it that is so for hf://ORG/NAME, oci://HOST/NAME:TAG and s3://BUCKET/PREFIX/. stream: the URL is a playlist (HLS, DASH), and the download the stream that it lists; {} or with quality, audio, subtitles, remux, allowGaps. Without it that is so where the URL ends with .m3u8 or .mpd, or the response is a playlist, unless asFile is true or a checksum, length, range or pieces are given. Options that name local files are accepted over the Unix socket only.",
            example: #"[[{"url": "https://example.org/f.iso", "options": {"checksum": "sha-256=..."}}]]"#,
            body: { try await $0.add($1) }),
        ServiceMethod(
            name: "pawl.verify", parameters: "[ID]",
            result:
                "{right, path, digests: [{level, algorithm, digest, source, weak, right}, ...], pieces, wrongPieces}",
            help:
                "Compares the file of a finished download with the digests that were given and those it was verified with, and with its pieces. The response comes when the file has been read. Error 3: no digest of it is known.",
            example: #"["3f2a"]"#, body: { try await $0.verify($1) }),
        ServiceMethod(
            name: "pawl.repair", parameters: "[ID]", result: "as pawl.verify, with repairing",
            help:
                "As pawl.verify, and puts a download whose file is wrong back into the queue: its wrong pieces are fetched again, or all of it if its pieces are not known. The file stays until the new one is complete and correct. repairing: whether a repair was necessary.",
            example: #"["3f2a"]"#, body: { try await $0.repair($1) }),
        ServiceMethod(
            name: "pawl.pause", parameters: "[ID or [ID, ...]]", result: "{ID: changed, ...}",
            help: "Pauses downloads; each keeps its part file.", example: #"["3f2a"]"#,
            body: { methods, given in
                try await methods.each(given, collections: { try await methods.collections.pause($0) }) { .pause($0) }
            }),
        ServiceMethod(
            name: "pawl.resume", parameters: "[ID or [ID, ...]]", result: "{ID: changed, ...}",
            help:
                "Puts paused or failed downloads back into the queue. One that is waiting to retry does so immediately.",
            example: #"["3f2a"]"#,
            body: { methods, given in
                try await methods.each(given, collections: { try await methods.collections.resume($0) }) { .resume($0) }
            }),
        ServiceMethod(
            name: "pawl.startOver", parameters: "[ID or [ID, ...]]", result: "{ID: changed, ...}",
            help:
                "Deletes what downloads that failed or wait for their disk have received, and downloads them from the beginning.",
            example: #"["3f2a"]"#, body: { try await $0.each($1) { .startOver($0) } }),
        ServiceMethod(
            name: "pawl.start", parameters: "[ID or [ID, ...]]", result: "{ID: changed, ...}",
            help:
                "Starts downloads immediately, ahead of the queue; the longest-running ones are preempted if all slots are taken.",
            example: #"["3f2a"]"#, body: { try await $0.each($1) { .start($0) } }),
        ServiceMethod(
            name: "pawl.pauseAll", parameters: "[]", result: "true", help: "Pauses all downloads.", example: "[]",
            body: { methods, _ in try await methods.all(areRunning: false) }),
        ServiceMethod(
            name: "pawl.resumeAll", parameters: "[]", result: "true",
            help: "Resumes all paused downloads, and retries all that wait for their disk or have failed.",
            example: "[]",
            body: { methods, _ in try await methods.all(areRunning: true) }),
        ServiceMethod(
            name: "pawl.pauseGroup", parameters: "[GROUP]", result: "true",
            help: "Pauses a group, including downloads added to it later.", example: #"["films"]"#,
            body: { methods, given in
                let group = try await methods.group(ServiceMethods.word(0, "a group", of: given))
                guard try await !methods.collections.pause(group) else { return .bool(true) }
                try await methods.manager.perform(.pauseGroup(group))
                return .bool(true)
            }),
        ServiceMethod(
            name: "pawl.resumeGroup", parameters: "[GROUP]", result: "true", help: "Resumes a group.",
            example: #"["films"]"#,
            body: { methods, given in
                let group = try await methods.group(ServiceMethods.word(0, "a group", of: given))
                guard try await !methods.collections.resume(group) else { return .bool(true) }
                try await methods.manager.perform(.resumeGroup(group))
                return .bool(true)
            }),
        ServiceMethod(
            name: "pawl.remove", parameters: "[ID or [ID, ...], {keepFile, grace}]", result: "{ID: changed, ...}",
            help:
                "Removes downloads. Finished files are deleted unless keepFile is true; what unfinished downloads have received is deleted in any case. grace: seconds, at most 60, in which pawl.restore can undo the removal. Of a collection, files that are complete stay, and there is no grace.",
            example: #"["3f2a", {"keepFile": true}]"#, body: { try await $0.remove($1) }),
        ServiceMethod(
            name: "pawl.restore", parameters: "[ID or [ID, ...]]", result: "{ID: changed, ...}",
            help: "Undoes removals whose grace period has not passed.", example: #"["3f2a"]"#,
            body: { try await $0.restore($1) }),
        ServiceMethod(
            name: "pawl.forget", parameters: "[ID]", result: "true",
            help: "Deletes the record of a finished, failed or removed download; files stay.", example: #"["3f2a"]"#,
            body: { methods, given in
                _ = try await methods.one(given) { .forget($0) }
                return .bool(true)
            }),
        ServiceMethod(
            name: "pawl.rename", parameters: "[ID, NAME]", result: "whether the name changed",
            help: "Renames the file of a download.", example: #"["3f2a", "f.iso"]"#,
            body: { methods, given in
                let name = try ServiceMethods.word(1, "a name", of: given)
                return .bool(try await methods.one(given) { .rename($0, name) }.isChange)
            }),
        ServiceMethod(
            name: "pawl.move", parameters: #"[ID, INDEX or "first" or "last" or "+N" or "-N"]"#,
            result: "the new index, or null", help: "Moves a download in the queue, within its priority.",
            example: #"["3f2a", "first"]"#,
            body: { methods, given in
                let place = try ServiceMethods.place(given)
                guard case .moved(let index?) = try await methods.one(given, { .move($0, place) }) else { return .null }
                return .number(index)
            }),
        ServiceMethod(
            name: "pawl.priority", parameters: "[ID, NUMBER]", result: "whether it changed",
            help: "Sets the priority; higher starts first, 0 is the default.", example: #"["3f2a", 5]"#,
            body: { methods, given in
                let priority = try given.integer(1)
                return .bool(try await methods.one(given) { .priority($0, priority) }.isChange)
            }),
        ServiceMethod(
            name: "pawl.url", parameters: "[ID, URL]", result: "whether it changed",
            help:
                "Replaces the URL of a download by another one of the same content; the data on disk is kept and compared.",
            example: #"["3f2a", "https://mirror.example/f.iso"]"#, body: { try await $0.replaceURL($1) }),
        ServiceMethod(
            name: "pawl.set",
            parameters: "[ID or [ID, ...], {url, options, mirrors, folder, group, priority, description, startAt}]",
            result: "{ID: changed, ...}",
            help:
                "Changes downloads; a running one continues with the changes. The fields are those of pawl.add, each optional; a list such as header replaces the former one, and null or an empty string removes a value. folder: only before it starts. url: for one download only; the data on disk is kept and compared. startAt: pauses it until then; pawl.resume, pawl.start and pawl.pause end that. A finished download accepts group, priority and description only. changed: whether anything differs now.",
            example: #"["3f2a", {"options": {"connections": "4"}, "priority": 5}]"#, body: { try await $0.set($1) }),
        ServiceMethod(
            name: "pawl.configure", parameters: "[{options, folder}]", result: "true",
            help:
                "Replaces the defaults of later downloads. options: connections, limit-rate, retries, retry-delay, timeout, if-exists, user-agent, proxy, no-proxy, each a string.",
            example: #"[{"options": {"connections": "4"}, "folder": "films"}]"#, body: { try await $0.configure($1) }),
        ServiceMethod(
            name: "pawl.read", parameters: "[{name, content}]", result: "{items}, {torrent} or {text}, or {error}",
            help:
                "Recognizes what somebody dropped or pasted: a Metalink, an input file with options, commands of curl, wget or aria2c, or text. items: downloads as pawl.add takes them, with mirrors, digests and header fields. torrent: {name, files, size, source}, where source is a url for pawl.add with a listing. text: text in which URLs are to be looked for. content: the bytes in Base64. name: the file's name, for messages. Lists of checksums are errors.",
            example: #"[{"name": "a.txt", "content": "aHR0cHM6Ly9leGFtcGxlLm9yZy9hCg=="}]"#, isReadOnly: true,
            body: { try await $0.read($1) }),
        ServiceMethod(
            name: "pawl.check", parameters: "[{url, options}]", result: "{name, total, type, ranges}, or {error}",
            help:
                "Requests a URL without adding it: file name, size in bytes, media type, and whether the server serves byte ranges; null for what it does not state.",
            example: #"[{"url": "https://example.org/f.iso"}]"#, body: { try await $0.check($1) }),
        ServiceMethod(
            name: "pawl.limit", parameters: "[RATE or null, ID]", result: "true, or whether it changed",
            help: "Limits all downloads together, or a single one, to bytes per second; null removes the limit.",
            example: "[1048576]", body: { try await $0.limit($1) }),
        ServiceMethod(
            name: "pawl.timetable", parameters: "[TEXT or null]", result: "true",
            help:
                "Sets limits by time of day; null removes them. The limit pause pauses all downloads, but those that are started with pawl.start.",
            example: #"["08:00-18:00 1M, else none"]"#,
            body: { try await $0.timetable($1) }),
        ServiceMethod(
            name: "pawl.setRules", parameters: "[[{match, folder}, ...]]", result: "true",
            help:
                "Replaces the rules. match: type:KIND (video, audio, image, document, archive, disk or program, by the ending of the name, else by the media type), host:NAME (with the hosts below it), name:PATTERN or url:PATTERN (host and path), in which * stands for any characters and ? for one. folder: relative to the root. At most 200.",
            example: #"[[{"match": "type:video", "folder": "Films"}]]"#, body: { try await $0.setRules($1) }),
        ServiceMethod(
            name: "pawl.atEnd", parameters: "[WORD]", result: "true",
            help:
                "What happens when the last download has ended: command runs the program of pawl serve --on-idle (the default), nothing does not.",
            example: #"["nothing"]"#, body: { try await $0.setAtEnd($1) }),
        ServiceMethod(
            name: "pawl.slots", parameters: "[NUMBER]", result: "true",
            help: "Sets the number of simultaneous downloads, 1 to 1000.", example: "[3]",
            body: { methods, given in
                let slots = try given.integer(0)
                guard (1...1_000).contains(slots) else { throw RPCError.invalid("slots must be 1 to 1000") }
                try await methods.manager.change(maximumConcurrentDownloads: slots)
                return .bool(true)
            }),
        ServiceMethod(
            name: "pawl.forgetHostLimits", parameters: "[HOST or null]", result: "true",
            help:
                "Forgets how many connections the host was seen to allow, in this run and earlier ones; with null, of all hosts.",
            example: #"["files.example.org"]"#,
            body: { methods, given in
                try await methods.manager.forgetHostLimits(of: given.textOrNull(0))
                return .bool(true)
            }),
        ServiceMethod(
            name: "pawl.stop", parameters: "[]", result: "true",
            help: "Stops the service; running downloads resume at its next start.", example: "[]",
            body: { methods, _ in
                methods.stop()
                return .bool(true)
            }),
    ]
}
