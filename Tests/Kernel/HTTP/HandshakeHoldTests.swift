import CTLS
import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlHTTP

/// A judge's decisions within a handshake.
@Suite struct HandshakeHoldTests {
    private let bench: TLSBench

    init() throws { bench = try TLSBench() }

    private static let judged = TLSTarget(host: "localhost", port: 8443, isJudged: true)

    private func settings(_ adjust: (inout TransferSettings.Values) -> Void = { _ in }) -> TransferSettings.Values {
        var values = TransferSettings.Values()
        values.authorityFile = bench.authority.authority
        adjust(&values)
        return values
    }

    private func context(_ values: TransferSettings.Values) throws -> TLSContext {
        try TLSContext.client(TLSSettings(values, carriesSecrets: true))
    }

    @Test(arguments: supportedVersions) func `the handshake waits for the decision about the server`(
        version: Int32
    ) throws {
        let link = try bench.link(nil, bench.server(version: version), to: Self.judged)
        guard case .held(let question) = link.clientProgress, case .server(let chain, let problem) = question.kind
        else {
            return #expect(Bool(false), "\(link.clientProgress)")
        }
        #expect(question.host == "localhost" && question.port == 8443)
        #expect(chain.count == 1 && chain.first?.first == 0x30 && problem == nil)
        #expect(!link.serverProgress.isSettled)
        // An event is not a decision, nor can anything be sent.
        #expect(!link.client.handshake().isSettled)
        #expect(link.client.send([1, 2, 3]) == nil)
        link.client.decide(.usual)
        #expect(link.shake().isDone && link.serverProgress.isDone)
        // A late one changes nothing.
        link.client.decide(.refuse)
        #expect(link.transfer([1, 2, 3], toClient: true) == [1, 2, 3])
    }

    private static let certificate = CertificateDecision.certificate(file: "/nowhere", key: nil)

    @Test(arguments: supportedVersions) func `each decision has its effect`(version: Int32) throws {
        let server = try bench.server(version: version)
        func fault(
            _ decision: CertificateDecision, _ values: TransferSettings.Values
        ) throws -> (
            id: String?, accepted: TransferSettings.Values
        ) {
            let link = try bench.link(context(values), server, to: Self.judged)
            #expect(link.clientProgress.question != nil)
            link.client.decide(decision)
            let progress = link.shake()
            #expect(progress.isSettled)
            if progress.fault != nil { #expect(!link.serverProgress.isDone) }
            return (progress.fault?.cause.id, link.client.accepted(values))
        }
        let (trusting, doubting) = (settings(), settings { $0.authorityFile = nil })
        let key = try bench.pin(of: bench.authority.certificate)
        for decision in [CertificateDecision.usual, Self.certificate, .accept] {
            let (id, accepted) = try fault(decision, trusting)
            #expect(id == nil && accepted.acceptedKey == key)
            if case .accept = decision { #expect(!accepted.verifiesPeer) } else { #expect(accepted.verifiesPeer) }
            #expect(accepted.certificate == nil)
        }
        #expect(try fault(.usual, doubting).id == "certificate-not-trusted")
        #expect(try fault(Self.certificate, doubting).id == "certificate-not-trusted")
        #expect(try fault(.usual, settings { ($0.authorityFile, $0.verifiesPeer) = (nil, false) }).id == nil)
        for values in [trusting, doubting] {
            #expect(try fault(.refuse, values).id == "fault-certificate-rejected")
        }
        let (id, accepted) = try fault(.accept, doubting)
        #expect(id == nil && accepted.acceptedKey == key && !accepted.verifiesPeer)
        // From then on there is no question, and no other key is accepted.
        #expect(try bench.link(context(accepted), server).clientProgress.isDone)
        let other = try bench.authority.issue(
            "impostor-\(version)", subject: "x", extensions: ["subjectAltName=DNS:localhost"])
        let refused = try bench.link(context(accepted), bench.server(other, version: version)).clientProgress.fault
        #expect(refused?.kind == .publicKey)
    }

    @Test func `the judge learns why a certificate is not trusted`() throws {
        func problem(_ host: String, _ authorities: String?, verifies: Bool = true) throws -> String? {
            let client = try bench.client { ($0.authorities, $0.verifies) = (authorities, verifies) }
            let link = try bench.link(client, to: TLSTarget(host: host, port: 1, isJudged: true))
            guard case .server(_, let problem)? = link.clientProgress.question else { return "no question" }
            return problem
        }
        let authority = bench.authority.authority
        #expect(try problem("localhost", authority) == nil)
        #expect(try problem("127.0.0.1", authority) == nil)
        #expect(try problem("localhost", nil) == "unable to get local issuer certificate")
        #expect(try problem("localhost", nil, verifies: false) == "unable to get local issuer certificate")
        #expect(try problem("other.example", authority) == "the certificate is not for this host")
        #expect(try problem("127.0.0.2", authority) == "the certificate is not for this host")
    }

    @Test func `the system's authorities do not stand in for a file that cannot be used`() throws {
        let client = try bench.client { ($0.authorities, $0.verifies) = ("/nowhere", false) }
        let link = try bench.link(client, to: Self.judged)
        guard case .server(_, let problem)? = link.clientProgress.question else { return #expect(Bool(false)) }
        #expect(problem == "unable to get local issuer certificate")
        // The system's would have been read to the end by now.
        #expect(client.trust?.isWhole == false)
    }

    @Test func `a key that is not pinned is no question`() throws {
        let client = try bench.client { $0.pins = ["sha256//AAAA"] }
        #expect(try bench.link(client, to: Self.judged).clientProgress.fault?.kind == .publicKey)
    }

    @Test(arguments: supportedVersions) func `a request for a client certificate is a second question`(
        version: Int32
    ) throws {
        let (files, values) = (bench.authority, settings())
        func fault(_ decision: CertificateDecision) throws -> (fault: TransferFault?, accepted: TransferSettings.Values)
        {
            let server = try bench.server(version: version, requestsCertificate: true)
            let link = try bench.link(context(values), server, to: Self.judged)
            guard case .server? = link.clientProgress.question else { return (nil, values) }
            link.client.decide(.usual)
            guard case .client? = link.shake().question else {
                Issue.record("no question: \(link.clientProgress)")
                return (nil, values)
            }
            #expect(!link.serverProgress.isSettled && !link.client.handshake().isSettled)
            link.client.decide(decision)
            if case .certificate = decision {
                #expect(unsafe SSL_get_default_passwd_cb(link.client.connection) != nil)
            }
            link.shake()
            let accepted = link.client.accepted(values)
            if let fault = link.clientProgress.fault { return (fault, accepted) }
            if case .failed(let fault) = link.client.receive(10).0 { return (fault, accepted) }
            #expect(link.serverProgress.isDone)
            return (nil, accepted)
        }
        let (none, accepted) = try fault(.certificate(file: files.clientCertificate, key: files.clientKey))
        #expect(none == nil)
        #expect(accepted.certificate == files.clientCertificate && accepted.key == files.clientKey)
        #expect(try bench.link(context(accepted), bench.server(requestsCertificate: true)).serverProgress.isDone)
        for decision in [CertificateDecision.usual, .accept] {
            #expect(try fault(decision).fault?.cause.id == "client-certificate-required")
        }
        #expect(try fault(.refuse).fault?.cause.id == "fault-certificate-rejected")
        #expect(try fault(Self.certificate).fault?.cause.id == "client-certificate-unusable")
        let wrong = CertificateDecision.certificate(file: files.clientCertificate, key: files.key)
        #expect(try fault(wrong).fault?.cause.id == "client-certificate-unusable")
    }

    @Test func `a given client certificate is no question`() throws {
        let client = try bench.client {
            ($0.certificate, $0.key) = (bench.authority.clientCertificate, bench.authority.clientKey)
        }
        let link = try bench.link(client, bench.server(requestsCertificate: true), to: Self.judged)
        link.client.decide(.usual)
        #expect(link.shake().isDone && link.serverProgress.isDone)
    }

    @Test(arguments: [CertificateDecision.usual, .refuse]) func `a server may leave while the judge decides`(
        decision: CertificateDecision
    ) throws {
        let link = try bench.link(nil, bench.server(version: TLS1_2_VERSION), to: Self.judged)
        link.cut()
        link.client.decide(decision)
        let fault = link.shake().fault
        if case .refuse = decision {
            #expect(fault == .certificateRejected)
        } else {
            #expect(fault?.kind == .connectionLost)
        }
    }
}
