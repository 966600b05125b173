import Pawl
import PawlCore

// Failures in the terms of the command line: its options, and how to resume a download there.
extension Failure {
    var commandLineSentence: String { sentence(at: commandLinePlace, remedy: commandLineRemedy) }

    /// The sentence without the remedy, for a failure that is retried.
    var commandLineCause: String { sentence(at: commandLinePlace, remedy: "") }

    var commandLineRemedy: String {
        remedy.worded {
            $0.option
        } resume: {
            "run the same command again"
        }
    }

    /// A rejected option by its name on the command line.
    var commandLinePlace: String {
        guard let refused, place.hasPrefix(refused.title) else { return place }
        return refused.option + place.dropFirst(refused.title.count)
    }
}

extension Setting {
    /// The option of `pawl get` that sets it.
    var option: String {
        switch self {
        case .allowsDowngrade: "--allow-downgrade"
        case .authorityFile: "--cacert"
        case .certificate: "--cert"
        case .checksum: "--checksum"
        case .connectTimeout: "--connect-timeout"
        case .connections: "--connections"
        case .cookieFile: "--load-cookies"
        case .deniesPrivateAddresses: "--deny-private-addresses"
        case .existingFile: "--if-exists"
        case .header: "--header"
        case .interface: "--interface"
        case .key: "--key"
        case .lowestSpeed: "--lowest-speed-limit"
        case .maximumRedirects: "--max-redirects"
        case .maximumRetryAfter: "--max-retry-after"
        case .netrc: "--netrc"
        case .noProxy: "--no-proxy"
        case .proxy: "--proxy"
        case .referer: "--referer"
        case .retries: "--retries"
        case .retryDelay: "--retry-delay"
        case .timeout: "--timeout"
        case .user: "--user"
        case .userAgent: "--user-agent"
        }
    }
}
