/// The codes of ISO 639-2, of which some languages have two, with those of ISO 639-1, which RFC 5646 prefers.
enum LanguageCodes {
    private static let short: [String: String] = [
        "ara": "ar", "ben": "bn", "bul": "bg", "cat": "ca", "ces": "cs", "chi": "zh", "cze": "cs", "dan": "da",
        "deu": "de", "dut": "nl", "ell": "el", "eng": "en", "est": "et", "fas": "fa", "fin": "fi", "fra": "fr",
        "fre": "fr", "ger": "de", "gre": "el", "heb": "he", "hin": "hi", "hrv": "hr", "hun": "hu", "ind": "id",
        "ita": "it", "jpn": "ja", "kor": "ko", "lav": "lv", "lit": "lt", "may": "ms", "msa": "ms", "nld": "nl",
        "nor": "no", "per": "fa", "pol": "pl", "por": "pt", "ron": "ro", "rum": "ro", "rus": "ru", "slk": "sk",
        "slo": "sk", "slv": "sl", "spa": "es", "srp": "sr", "swe": "sv", "tam": "ta", "tel": "te", "tha": "th",
        "tur": "tr", "ukr": "uk", "urd": "ur", "vie": "vi", "zho": "zh",
    ]

    /// Those that bibliographies use beside the ones of terminology (ISO 639-2/B).
    private static let bibliographic: Set<String> = [
        "chi", "cze", "dut", "fre", "ger", "gre", "may", "per", "rum", "slo",
    ]

    /// The language of a tag in three letters, as containers store it; `und` where that is not known.
    static func long(_ tag: String) -> String {
        let language = String(preferred(tag).prefix { $0 != "-" })
        if language.utf8.count == 3 { return language }
        return short.filter { $0.value == language && !bibliographic.contains($0.key) }.keys.min() ?? "und"
    }

    /// A language tag in lower case whose language has two letters, where the table knows it.
    static func preferred(_ tag: String) -> String {
        let tag = tag.lowercased()
        let language = tag.prefix { $0 != "-" }
        return short[String(language)].map { $0 + tag[language.endIndex...] } ?? tag
    }
}
