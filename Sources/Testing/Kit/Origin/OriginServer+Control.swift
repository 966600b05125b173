import PawlSystem

extension OriginServer {
    /// Serves `payload` under `path`; returns the URL.
    @discardableResult package func serve(
        _ path: String, _ payload: Payload, _ adjust: (inout Behaviour) -> Void = { _ in }
    ) -> String { serve(path, versions: [payload], adjust) }

    /// Serves content that changes: the first version until `change` is due or ``advance(_:)`` is called, then the next.
    @discardableResult package func serve(
        _ path: String, versions: [Payload], changing change: ContentChange? = nil, runningBodies: Bool = false,
        _ adjust: (inout Behaviour) -> Void = { _ in }
    ) -> String {
        precondition(!versions.isEmpty, "a resource has content")
        var behaviour = Behaviour()
        adjust(&behaviour)
        var resource = Resource(versions: versions, behaviour: behaviour)
        resource.change = change
        resource.changesRunningBodies = runningBodies
        state.with { $0.resources[path] = resource }
        return url(path)
    }

    /// Redirects `path` to `location`.
    @discardableResult package func redirect(_ path: String, to location: String, status: Int = 302) -> String {
        serve(path, Payload([])) { $0.instead = .redirect(to: location, status: status) }
    }

    /// Changes the behaviour of later requests for `path`.
    package func adjust(_ path: String, _ adjust: (inout Behaviour) -> Void) {
        state.with { state in
            guard var behaviour = state.resources[path]?.behaviour else { return }
            adjust(&behaviour)
            state.resources[path]?.behaviour = behaviour
        }
    }

    /// Makes the behaviour depend on the request: `vary` changes a copy of it for each.
    package func vary(_ path: String, _ vary: @escaping @Sendable (RequestFacts, inout Behaviour) -> Void) {
        state.with { $0.resources[path]?.vary = vary }
    }

    /// Replaces the content of `path` by its next version.
    package func advance(_ path: String) {
        state.with { state in
            guard let resource = state.resources[path], resource.current + 1 < resource.versions.count else { return }
            state.resources[path]?.current += 1
        }
    }

    /// Continues every exchange of `path` that is held now: late, unanswered, or stalled.
    package func release(_ path: String) {
        state.with { state in
            state.resources[path]?.releases += 1
            for handle in state.connections.values { handle.interrupt(closing: false) }
        }
    }

    /// Closes connections beyond that many at once as soon as they are accepted.
    package func limitConnections(to limit: Int?) { state.with { $0.connectionLimit = limit } }

    /// Responds to so many requests at once, whatever their paths, and to others with the refusal.
    package func limitResponses(to places: Int, refusal: Behaviour.SubstituteResponse) {
        state.with { state in
            state.places = places
            state.refusal = refusal
        }
    }

    /// The requests so far.
    package var log: RequestLog { state.read(\.log) }

    /// Waits until the log satisfies `condition`; `false` after `limit`, which only keeps a failing test from hanging.
    @discardableResult package func wait(
        atMost limit: Duration = .patience, until condition: (RequestLog) -> Bool
    ) -> Bool { state.wait(atMost: limit) { condition($0.log) ? () : nil } != nil }

    /// Waits until that many requests for `path` have arrived.
    @discardableResult package func wait(
        requests count: Int, of path: String, atMost limit: Duration = .patience
    ) -> Bool { state.wait(atMost: limit) { $0.resources[path]?.requests ?? 0 >= count ? () : nil } != nil }

    /// Waits until that many body bytes of `path` were handed to the kernel.
    @discardableResult package func wait(
        bytes count: Int64, of path: String, atMost limit: Duration = .patience
    ) -> Bool { state.wait(atMost: limit) { $0.resources[path]?.bodySent ?? 0 >= count ? () : nil } != nil }

    /// Waits until that many exchanges of `path` are held at once.
    @discardableResult package func wait(held count: Int, of path: String, atMost limit: Duration = .patience) -> Bool {
        wait(atMost: limit) { log in log.of(path).filter(\.isHeld).count >= count }
    }

    /// Waits until no exchange of `path` is in progress.
    @discardableResult package func waitUntilQuiet(_ path: String, atMost limit: Duration = .patience) -> Bool {
        wait(atMost: limit) { log in log.of(path).allSatisfy { $0.end != nil } }
    }

    /// The records of `path` once every exchange has ended: a client may be gone before the log shows it.
    package func ended(_ path: String) -> [RequestRecord] {
        waitUntilQuiet(path)
        return log.of(path)
    }

    /// Last-Modified of the current version of `path`, in Unix seconds.
    package func lastModified(_ path: String) -> Int64? { state.read { $0.resources[path]?.lastModified } }
}
