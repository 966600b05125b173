extension Aria2Option {
    /// aria2's defaults of BitTorrent's options, which clients show; setting them has no effect.
    static let torrents: [String: String] = [
        "bt-detach-seed-only": "false", "bt-enable-hook-after-hash-check": "true", "bt-enable-lpd": "false",
        "bt-force-encryption": "false", "bt-hash-check-seed": "true", "bt-load-saved-metadata": "false",
        "bt-max-open-files": "100", "bt-max-peers": "55", "bt-metadata-only": "false", "bt-min-crypto-level": "plain",
        "bt-remove-unselected-file": "false", "bt-request-peer-speed-limit": "51200", "bt-require-crypto": "false",
        "bt-save-metadata": "false", "bt-seed-unverified": "false", "bt-stop-timeout": "0",
        "bt-tracker-connect-timeout": "60", "bt-tracker-interval": "0", "bt-tracker-timeout": "60",
        "dht-listen-port": "6881-6999", "dht-message-timeout": "10", "enable-dht": "true", "enable-dht6": "false",
        "enable-peer-exchange": "true", "listen-port": "6881-6999", "pause-metadata": "false", "seed-ratio": "1.0",
    ]
}
