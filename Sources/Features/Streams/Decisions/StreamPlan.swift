package import PawlBase

/// What a stream is made of: the tracks that were chosen, each with its segments in order.
///
/// A playlist (HLS) and a presentation (DASH) are both read into it; all that is done with segments knows neither.
package struct StreamPlan: Hashable, Sendable {
    /// The first is the one whose file has the stream's name.
    package var tracks: [StreamTrack]

    package init(tracks: [StreamTrack]) { self.tracks = tracks }
}

/// Segments that become one file, as long as their initialization stays the same.
package struct StreamTrack: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// Video, or video and audio together.
        case video
        case audio
        case subtitles
    }

    package enum Container: String, Hashable, Sendable {
        /// MPEG-2 transport stream (ISO/IEC 13818-1): packets of 188 bytes.
        case transportStream
        /// Fragmented MP4 (ISO/IEC 14496-12): an initialization, then fragments.
        case fragments
        /// AAC, MP3 or AC-3 with an ID3 tag in front of each segment (RFC 8216 §3.4).
        case packedAudio
        case webVTT
        /// Anything else that is joined as it is, such as WebM.
        case bytes
    }

    package var content: Content
    /// `nil` until the first segment shows it.
    package var container: Container?
    /// What tells it apart from other tracks of the stream: resolution, codecs, bandwidth, group, name.
    ///
    /// It stays the same when the playlist is requested again, and belongs to the identity of what is on disk.
    package var identity: String
    /// RFC 5646, as the playlist states it.
    package var language: String?
    package var name: String?
    /// RFC 6381.
    package var codecs: String?
    /// In bits for each second; 0 if it is not stated.
    package var bandwidth: Int64
    /// Its playlist came over TLS: nothing of it is requested without.
    package var requiresTLS = false
    package var parts: [StreamPart]

    package init(content: Content, identity: String, bandwidth: Int64 = 0, parts: [StreamPart] = []) {
        self.content = content
        self.identity = identity
        self.bandwidth = bandwidth
        self.parts = parts
    }
}

/// Segments with one initialization.
package struct StreamPart: Hashable, Sendable {
    package var initialization: StreamSegment?
    package var segments: [StreamSegment]
    /// Whether timestamps do not continue those of the part before (EXT-X-DISCONTINUITY, a Period).
    package var isDiscontinuous: Bool
    /// What its timestamps lack to those of the whole stream, in microseconds.
    package var timestampOffset: Int64 = 0

    package init(initialization: StreamSegment? = nil, segments: [StreamSegment] = [], isDiscontinuous: Bool = false) {
        self.initialization = initialization
        self.segments = segments
        self.isDiscontinuous = isDiscontinuous
    }
}

package struct StreamSegment: Hashable, Sendable {
    /// AES-128-CBC over the whole segment (RFC 8216 §4.3.2.4).
    package struct Key: Hashable, Sendable {
        package var address: WebAddress
        /// 16 bytes.
        package var initializationVector: [UInt8]

        package init(address: WebAddress, initializationVector: [UInt8]) {
            self.address = address
            self.initializationVector = initializationVector
        }
    }

    package var address: WebAddress
    /// Other addresses of the same bytes.
    package var mirrors: [WebAddress] = []
    /// Of the resource; `nil` for all of it.
    package var range: ByteRange?
    /// Its media sequence number, or its number in the track, from 0.
    package var number: UInt64
    /// By how much the number of the one that follows is larger: more than 1 where numbers are times.
    package var step: UInt64 = 1
    /// In microseconds; 0 for an initialization.
    package var duration: Int64
    package var key: Key?
    /// Whether its author says that it is missing (EXT-X-GAP).
    package var isGap = false

    package init(address: WebAddress, range: ByteRange? = nil, number: UInt64, duration: Int64, key: Key? = nil) {
        self.address = address
        self.range = range
        self.number = number
        self.duration = duration
        self.key = key
    }
}
