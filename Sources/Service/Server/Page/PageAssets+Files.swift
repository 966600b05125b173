import CPage

extension PageAssets {
    /// The files of the folder `Assets`, which CPage puts into the program in this order; a test compares them with the
    /// folder.
    static let files: [(name: String, bytes: EmbeddedBytes)] = {
        let content = unsafe UnsafeBufferPointer(start: pawl_page_content(), count: pawl_page_length())
        let parts = unsafe content.split(separator: 0, omittingEmptySubsequences: false)
        let texts = unsafe zip(names, parts).map { unsafe ($0, EmbeddedBytes(UnsafeBufferPointer(rebasing: $1))) }
        let pictures = unsafe UnsafeBufferPointer(start: pawl_page_pictures(), count: pawl_page_picture_count())
        let others = unsafe pictures.map {
            unsafe (String(cString: $0.name), EmbeddedBytes(UnsafeBufferPointer(start: $0.bytes, count: $0.length)))
        }
        return texts + others
    }()

    private static let names = [
        "index.html", "icon.svg", "pawl.webmanifest", "foundation.css", "layout.css", "header.css", "filters.css",
        "tools.css", "overlays.css", "narrow.css", "list.css", "detail.css", "dialogs.css", "choosing.css", "popup.css",
        "rules.css",
        "actions.js", "adding.js", "addresses.js", "asking.js", "banners.js", "chart.js", "columnMenu.js", "columns.js",
        "commands.js",
        "connect.js", "connection.js", "detail.js", "dom.js", "dropAndPaste.js", "early.js", "editing.js",
        "emptiness.js", "facts.js", "filters.js", "form.js", "format.js", "help.js", "icons.js", "keyboard.js",
        "languages.js", "later.js", "layers.js", "limits.js", "list.js", "log.js", "login.js", "main.js", "menu.js",
        "messages.de.js", "messages.es.js", "messages.fr.js", "messages.ja.js", "messages.pt.js", "messages.zh.js",
        "notifications.js", "pauseAllButton.js", "place.js", "pointing.js", "popup.js", "preferences.js", "preview.js",
        "qr.js", "queue.js", "rest.js", "row.js", "rules.js", "schedule.js", "segments.js", "serviceSettings.js",
        "toasts.js",
        "toolbar.js", "totals.js", "torrent.js", "translating.js", "view.js", "words.de.js", "words.en.js",
        "words.es.js",
        "words.fr.js", "words.ja.js", "words.js", "words.pt.js", "words.zh.js",
    ]
}

/// Bytes that are a constant of the program: nothing copies them until they are sent.
@safe struct EmbeddedBytes: Sendable {
    private nonisolated(unsafe) let buffer: UnsafeBufferPointer<UInt8>  // constant, for as long as the program runs

    init(_ buffer: UnsafeBufferPointer<UInt8>) { unsafe self.buffer = buffer }

    package var bytes: [UInt8] { unsafe Array(buffer) }
    var text: String { unsafe String(decoding: buffer, as: UTF8.self) }
}
