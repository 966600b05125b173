import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlGet
@testable import PawlSession
@testable import PawlSystem

/// Responses as URLSession reports them.
@Suite struct ResponseTests {
    /// Records the calls for one task beside its events.
    private final class Watcher: DownloadTaskDelegate {
        let redirects = Monitor<[(status: Int, target: String)]>([])
        let challenges = Monitor<[SessionChallenge]>([])
        let metrics = Monitor<[DownloadTaskMetrics]>([])
        let ends = Monitor<[(any Error)?]>([])
        private let follows: @Sendable (SessionRequest) -> SessionRequest?
        private let login: (SessionChallenge.Disposition, SessionCredential?)

        init(
            follows: @escaping @Sendable (SessionRequest) -> SessionRequest? = { $0 },
            login: (SessionChallenge.Disposition, SessionCredential?) = (.performDefaultHandling, nil)
        ) {
            self.follows = follows
            self.login = login
        }

        func urlSession(
            _ session: DownloadSession, task: DownloadTask, willPerformHTTPRedirection response: SessionResponse,
            newRequest request: SessionRequest, completionHandler: @escaping (SessionRequest?) -> Void
        ) {
            redirects.with { $0.append((response.statusCode, request.url)) }
            completionHandler(follows(request))
        }

        func urlSession(
            _ session: DownloadSession, task: DownloadTask, didReceive challenge: SessionChallenge,
            completionHandler: @escaping @Sendable (SessionChallenge.Disposition, SessionCredential?) -> Void
        ) {
            challenges.with { $0.append(challenge) }
            let isFirst = challenge.previousFailureCount == 0
            completionHandler(isFirst ? login.0 : .performDefaultHandling, isFirst ? login.1 : nil)
        }

        func urlSession(
            _ session: DownloadSession, task: DownloadTask, didFinishCollecting metrics: DownloadTaskMetrics
        ) { self.metrics.with { $0.append(metrics) } }
    }

    private func end(
        _ session: DownloadSession, _ url: String, _ delegate: (any DownloadTaskDelegate)? = nil
    ) async -> (text: String?, task: DownloadTask, error: PawlError?) {
        await end(session, SessionRequest(url: url), delegate)
    }

    private func end(
        _ session: DownloadSession, _ request: SessionRequest, _ delegate: (any DownloadTaskDelegate)? = nil
    ) async -> (text: String?, task: DownloadTask, error: PawlError?) {
        await withCheckedContinuation { continuation in
            let made = Monitor<DownloadTask?>(nil)
            let task = session.downloadTask(with: request) { path, _, error in
                let text = path.flatMap { FileSystem.contents($0) }.map { String(decoding: $0, as: UTF8.self) }
                let task = made.read { $0 }
                if let task { continuation.resume(returning: (text, task, error)) }
            }
            made.with { $0 = task }
            task.delegate = delegate
            task.resume()
        }
    }

    @Test func `an error status is the response of a task, and its page the file, without a retry`() async throws {
        let bench = try SessionBench()
        let session = bench.session()
        for status in [404, 500, 503, 401] {
            let url = bench.origin.serve("/\(status).txt", Payload(seed: 1, length: 10)) {
                $0.instead = Behaviour.SubstituteResponse(status, lines: [], body: "no such \(status)")
            }
            let (text, task, error) = await end(session, url)
            #expect(error == nil && task.error == nil)
            #expect(text == "no such \(status)")
            let response: SessionResponse? = task.response
            #expect(response?.statusCode == status)
            #expect(response?.url == url)
            #expect(response?.suggestedFilename == "\(status).txt")
            let records = bench.origin.log.of("/\(status).txt")
            #expect(records.count == 1, "\(records)")
        }
        session.invalidateAndCancel()
    }

    @Test func `with the option an error status is a failure that has its response`() async throws {
        let bench = try SessionBench()
        var configuration = bench.configuration()
        configuration.failsOnErrorStatus = true
        let session = DownloadSession(configuration: configuration)
        let url = bench.origin.serve("/f", Payload(seed: 1, length: 10)) { $0.instead = .status(404) }
        let (text, task, error) = await end(session, url)
        #expect(text == nil)
        #expect(error?.code == .notFound)
        #expect(error?.response?.status == 404)
        #expect(error?.response?.url == url)
        let response: SessionResponse? = task.response
        #expect(response?.statusCode == 404)
        session.invalidateAndCancel()
    }

    @Test func `an error status in the middle of a download keeps its bytes`() async throws {
        let bench = try SessionBench()
        let notes = Notes(moving: bench.folder.path("moved"))
        let session = bench.session(notes)
        let (url, payload) = bench.serveStalling("/f", seed: 751)
        let task = session.downloadTask(with: url)
        task.resume()
        #expect(await notes.until(bytes: 1_000_000))
        task.suspend()
        await bench.quiet("/f")
        bench.origin.adjust("/f") { $0.instead = .status(404) }
        task.resume()
        #expect(await notes.until("complete 3"))
        let data = try #require(task.error?.downloadTaskResumeData)
        bench.origin.adjust("/f") { ($0.instead, $0.cut) = (nil, nil) }
        session.downloadTask(withResumeData: data).resume()
        #expect(await notes.until("complete 0"))
        #expect(bench.folder.difference("moved", from: payload) == nil)
        session.invalidateAndCancel()
        #expect(await notes.until("over 0"))
    }

    @Test func `a redirect is followed, changed or refused, and the final URL is known`() async throws {
        let bench = try SessionBench()
        let session = bench.session()
        let target = bench.origin.serve("/target", Payload(Array("target".utf8)))
        let other = bench.origin.serve("/other", Payload(Array("other".utf8)))
        let url = bench.origin.redirect("/start", to: target)
        let following = Watcher()
        let followed = await end(session, url, following)
        #expect(followed.text == "target")
        let request: SessionRequest? = followed.task.currentRequest
        #expect(request?.url == target)
        let response: SessionResponse? = followed.task.response
        #expect(response?.url == target)
        #expect(following.redirects.read { $0.map(\.status) } == [302])
        #expect(following.redirects.read { $0.map(\.target) } == [target])
        #expect(followed.task.delegate == nil, "it is released at the end")

        let changing = Watcher { request in
            var request = request
            request.url = other
            return request
        }
        #expect(await end(session, url, changing).text == "other")

        // A new request, without the fields of the first, is followed.
        #expect(await end(session, url, Watcher { SessionRequest(url: $0.url) }).text == "target")

        let refused = await end(session, url, Watcher { _ in nil })
        let decision: SessionResponse? = refused.task.response
        #expect(decision?.statusCode == 302)
        #expect(refused.error == nil)
        #expect(refused.text != nil)
        session.invalidateAndCancel()
    }

    @Test(arguments: [false, true]) func `a field that the delegate adds to a redirect is sent to its target only`(
        isOther: Bool
    ) async throws {
        let bench = try SessionBench()
        let other = isOther ? try OriginServer() : bench.origin
        defer { if isOther { other.stop() } }
        let session = bench.session()
        let last = other.serve("/last", Payload(Array("last".utf8)))
        let target = other.redirect("/target", to: last)
        let url = bench.origin.redirect("/start", to: target)
        var request = SessionRequest(url: url)
        request.setValue("Bearer a", forHTTPHeaderField: "Authorization")
        let offered = Monitor<[SessionRequest]>([])
        let watcher = Watcher { [first = request] request in
            offered.with { $0.append(request) }
            guard request.url == target else { return request }
            var request = request
            // As code does for URLSession, which drops this field.
            request.setValue(first.value(forHTTPHeaderField: "Authorization"), forHTTPHeaderField: "Authorization")
            request.setValue("k", forHTTPHeaderField: "X-Key")
            return request
        }
        let ended = await end(session, request, watcher)
        #expect(ended.text == "last" && ended.error == nil)
        let sent = other.log.of("/target").first?.request
        #expect(sent?.header("X-Key") == "k" && sent?.header("Authorization") == "Bearer a")
        let after = other.log.of("/last").first?.request
        #expect(after?.header("X-Key") == nil)
        #expect(after?.header("Authorization") == (isOther ? nil : "Bearer a"))
        #expect(
            offered.read { $0.map { $0.value(forHTTPHeaderField: "Authorization") } }
                == (isOther ? [nil, nil] : ["Bearer a", "Bearer a"]))
        session.invalidateAndCancel()
    }

    @Test func `a redirect that may not be followed is an error, not a response`() async throws {
        let bench = try SessionBench()
        var configuration = bench.configuration()
        configuration.options.maximumRedirects = 1
        let session = DownloadSession(configuration: configuration, delegate: Watcher())
        let target = bench.origin.serve("/target", Payload(Array("target".utf8)))
        let second = bench.origin.redirect("/second", to: target)
        let many = await end(session, bench.origin.redirect("/start", to: second))
        #expect(many.text == nil && many.error?.code == .tooManyRedirects)
        let response: SessionResponse? = many.task.response
        #expect(response?.statusCode == 302)
        let elsewhere = await end(session, bench.origin.redirect("/ftp", to: "ftp://127.0.0.1/f"))
        #expect(elsewhere.text == nil && elsewhere.error?.code == .badResponse)
        session.invalidateAndCancel()
    }

    @Test(arguments: ["method", "Range", "Host"])
    func `a redirect whose request cannot be sent fails instead of losing a part`(change: String) async throws {
        let bench = try SessionBench()
        let session = bench.session()
        let target = bench.origin.serve("/target", Payload(Array("target".utf8)))
        let watcher = Watcher { request in
            var request = request
            if change == "method" {
                request.httpMethod = "POST"
            } else {
                request.setValue("secret", forHTTPHeaderField: change)
            }
            return request
        }
        let ended = await end(session, bench.origin.redirect("/start", to: target), watcher)
        #expect(ended.error?.code == .badOption)
        #expect(ended.text == nil)
        #expect(ended.error?.description.contains("secret") == false)
        #expect(bench.origin.log.of("/target").isEmpty)
        session.invalidateAndCancel()
    }

    @Test func `a challenge gets a credential, and a refused one ends in the 401`() async throws {
        let bench = try SessionBench()
        let session = bench.session()
        let kinds = [Behaviour.Login.basic(user: "ann", password: "pw"), .digest(user: "ann", password: "pw")]
        for (index, kind) in kinds.enumerated() {
            let url = bench.origin.serve("/\(index)", Payload(Array("secret".utf8))) { $0.login = kind }
            let right = Watcher(login: (.useCredential, SessionCredential(user: "ann", password: "pw")))
            #expect(await end(session, url, right).text == "secret")
            let challenge = right.challenges.read { $0.first }
            #expect(challenge?.protectionSpace.host == "127.0.0.1")
            #expect(challenge?.failureResponse?.statusCode == 401)
            #expect(right.challenges.read { $0.count } == 1)

            let wrong = Watcher(login: (.useCredential, SessionCredential(user: "ann", password: "no")))
            let refused = await end(session, url, wrong)
            let response: SessionResponse? = refused.task.response
            #expect(response?.statusCode == 401)
            #expect(refused.error == nil)
            #expect(wrong.challenges.read { $0.map(\.previousFailureCount) } == [0, 1])

            let cancelling = Watcher(login: (.cancelAuthenticationChallenge, nil))
            #expect(await end(session, url, cancelling).error?.code == .unfinished)
        }
        // Without a method in the response there is nothing to respond to.
        let url = bench.origin.serve("/plain", Payload(Array("secret".utf8))) { $0.instead = .status(401) }
        let cancelling = Watcher(login: (.cancelAuthenticationChallenge, nil))
        let plain = await end(session, url, cancelling)
        let response: SessionResponse? = plain.task.response
        #expect(response?.statusCode == 401 && plain.error == nil)
        #expect(cancelling.challenges.read { $0.isEmpty })
        session.invalidateAndCancel()
    }

    @Test func `each request is measured, and a reused connection is one`() async throws {
        let bench = try SessionBench()
        let session = bench.session()
        let payload = Payload(seed: 752, length: 100_000)
        let target = bench.origin.serve("/target", payload)
        let url = bench.origin.redirect("/start", to: target)
        let watcher = Watcher()
        _ = await end(session, url, watcher)
        let metrics = try #require(watcher.metrics.read { $0.first })
        #expect(watcher.metrics.read { $0.count } == 1)
        #expect(metrics.redirectCount == 1)
        #expect(metrics.transactionMetrics.count == 2)
        let first = metrics.transactionMetrics[0]
        let second = metrics.transactionMetrics[1]
        #expect(!first.isReusedConnection && first.networkProtocolName == "http/1.1")
        #expect(first.remoteAddress == "127.0.0.1")
        #expect(second.isReusedConnection && second.connectStartDate == nil)
        #expect(second.countOfResponseBodyBytesReceived == payload.length)
        let times: [Double?] = [
            first.fetchStartDate, first.domainLookupStartDate, first.domainLookupEndDate, first.connectStartDate,
            first.connectEndDate, first.requestStartDate, first.requestEndDate, first.responseStartDate,
            first.responseEndDate, second.fetchStartDate, second.responseEndDate,
        ]
        let known = times.compactMap { $0 }
        #expect(known.count == times.count)
        #expect(known == known.sorted(), "\(known)")
        let interval: ClosedRange<Double> = metrics.taskInterval
        #expect(known.allSatisfy { interval.contains($0) })
        session.invalidateAndCancel()
    }

    @Test func `a suspended task reports its redirect, its login and its content once`() async throws {
        let bench = try SessionBench()
        let session = bench.session()
        let payload = Payload(seed: 753, length: 3_000_000)
        let target = bench.origin.serve("/target", payload) {
            $0.cut = .stall(from: 2_000_000)
            $0.login = .basic(user: "ann", password: "pw")
        }
        let url = bench.origin.redirect("/start", to: target)
        let watcher = Watcher(login: (.useCredential, SessionCredential(user: "ann", password: "pw")))
        let ended = Monitor<Bool>(false)
        let task = session.downloadTask(with: url) { _, _, _ in ended.with { $0 = true } }
        task.delegate = watcher
        task.resume()
        await aside { _ = bench.origin.wait(bytes: 2_000_000, of: "/target") }
        task.suspend()
        await bench.quiet("/target")
        bench.origin.adjust("/target") { $0.cut = nil }
        task.resume()
        #expect(await aside { ended.wait { $0 ? true : nil } } == true)
        #expect(bench.origin.log.of("/start").count == 2, "it was requested again")
        #expect(watcher.redirects.read { $0.count } == 1)
        #expect(watcher.challenges.read { $0.count } == 1)
        let metrics = try #require(watcher.metrics.read { $0.first })
        #expect(metrics.redirectCount == 1)
        let statuses = metrics.transactionMetrics.map { transaction -> Int? in
            let response: SessionResponse? = transaction.response
            return response?.statusCode
        }
        #expect(statuses.prefix(3) == [302, 401, 200], "\(statuses)")
        #expect(metrics.transactionMetrics.last?.countOfResponseBodyBytesReceived ?? 0 >= payload.length)
        session.invalidateAndCancel()
    }

    /// Drops the decision about a redirect.
    private final class Forgetful: DownloadTaskDelegate {
        func urlSession(
            _ session: DownloadSession, task: DownloadTask, willPerformHTTPRedirection response: SessionResponse,
            newRequest request: SessionRequest, completionHandler: @escaping @Sendable (SessionRequest?) -> Void
        ) {}
    }

    @Test func `a redirect about which nobody decides is not followed`() async throws {
        let bench = try SessionBench()
        let session = bench.session()
        let target = bench.origin.serve("/target", Payload(Array("target".utf8)))
        let ended = Monitor<PawlError?>(nil)
        let task = session.downloadTask(with: bench.origin.redirect("/start", to: target)) { _, _, error in
            ended.with { $0 = error }
        }
        task.delegate = Forgetful()
        task.resume()
        let error = try #require(await aside { ended.wait { $0 } })
        #expect(error.code == .rejected)
        #expect(error.description.contains("without a decision"))
        #expect(bench.origin.log.of("/target").isEmpty)
        session.invalidateAndCancel()
    }

    /// Drops the decision about a login, and takes back the one about a redirect.
    private final class Wavering: DownloadTaskDelegate {
        func urlSession(
            _ session: DownloadSession, task: DownloadTask, willPerformHTTPRedirection response: SessionResponse,
            newRequest request: SessionRequest, completionHandler: @escaping @Sendable (SessionRequest?) -> Void
        ) {
            completionHandler(request)
            completionHandler(nil)
        }

        func urlSession(
            _ session: DownloadSession, task: DownloadTask, didReceive challenge: SessionChallenge,
            completionHandler: @escaping @Sendable (SessionChallenge.Disposition, SessionCredential?) -> Void
        ) {}
    }

    @Test func `the first decision holds, and a dropped one about a login is the usual one`() async throws {
        let bench = try SessionBench()
        let session = bench.session()
        let target = bench.origin.serve("/target", Payload(Array("target".utf8))) {
            $0.login = .basic(user: "ann", password: "pw")
        }
        let ended = await end(session, bench.origin.redirect("/start", to: target), Wavering())
        let response: SessionResponse? = ended.task.response
        #expect(response?.statusCode == 401 && ended.error == nil)
        #expect(response?.url == target)
        session.invalidateAndCancel()
    }

    /// Requests the list of tasks while a finished file is given.
    private final class Lister: DownloadSessionDelegate {
        let lines = Monitor<[String]>([])

        func urlSession(_ session: DownloadSession, downloadTask: DownloadTask, didFinishDownloadingTo location: String)
        {
            session.getAllTasks { tasks in self.lines.with { $0.append("tasks \(tasks.count)") } }
            // All that the session works on beside this call.
            let isIdle = Monitor(false)
            session.work.yield { _ in isIdle.with { $0 = true } }
            _ = isIdle.wait { $0 ? true : nil }
        }

        func urlSession(_ session: DownloadSession, task: DownloadTask, didCompleteWithError error: PawlError?) {
            lines.with { $0.append("complete") }
        }
    }

    @Test func `a list of tasks comes in the order of the delegate's calls`() async throws {
        let bench = try SessionBench()
        let lister = Lister()
        let session = DownloadSession(configuration: bench.configuration(), delegate: lister)
        session.downloadTask(with: bench.origin.serve("/f", Payload(seed: 754, length: 1_000))).resume()
        let lines = await aside { lister.lines.wait { $0.count == 2 ? $0 : nil } }
        #expect(lines == ["complete", "tasks 0"])
        session.invalidateAndCancel()
    }
}
