import PawlCore

// Where the file goes: before the first request when its name is known, else with the first answer.
extension Runner {
    /// A name that the person chose, or an earlier run's partial of the same address, is claimed before any request.
    func earlyClaim() -> ClaimOutcome? {
        let address = job.plan.sources[0]
        if let name = job.fileName { return claim(name: name, adoptsAny: true) }
        let source = address.text
        if let name = shared.ports.disk.unfinished(of: source, in: job.folder) {
            return claim(name: name, adoptsAny: false)
        }
        let name = NamingPolicy.choose(job.naming, address: address, head: nil)
        switch job.naming {
        case .server:
            // A file of the address's own name is meant by `skip` and `resume`; nothing needs to be asked for it (C3).
            guard job.ifExists == .skip || job.ifExists == .resume,
                shared.ports.disk.holds(name, in: job.folder)
            else { return nil }
            return claim(name: name, adoptsAny: false)
        case .url, .hash: return claim(name: name, adoptsAny: false)
        }
    }

    /// The name comes with the answer to `lane`.
    func claim(_ lane: LaneID) {
        guard let index = machine.lanes.first(where: { $0.id == lane })?.source else { return }
        // The name is the redirect target's, as browsers do it; its head speaks first.
        let address = machine.sources[index].current
        let name = NamingPolicy.choose(job.naming, address: address, head: lastHead)
        let outcome = claim(name: name, adoptsAny: false)
        perform(machine.claimed(lane, outcome, now: clock.now))
    }

    private func claim(name: String, adoptsAny: Bool) -> ClaimOutcome {
        var facts = self.facts
        facts.name = name
        let wish = Claim(folder: job.folder, name: name, ifExists: job.ifExists, facts: facts)
        do throws(Failure) {
            let answer = try shared.ports.disk.claim(wish) { found in
                adoptsAny || adopts(found)
            }
            return take(answer)
        } catch {
            return .failed(error)
        }
    }

    /// A partial of another address under the same name is continued when nothing speaks against its being the same
    /// content (A8: signed addresses change).
    private func adopts(_ found: LoadedJournal) -> Bool {
        guard let offered = machine.identity, offered.total != nil, offered.hasValidator else { return false }
        guard found.facts.identity.hasValidator else { return false }
        if case .changed = found.facts.identity.match(offered) { return false }
        return true
    }

    private func take(_ answer: ClaimAnswer) -> ClaimOutcome {
        switch answer {
        case .fresh(let partial):
            take(partial)
            return .fresh
        case .found(let partial, let journal):
            take(partial)
            return .found(journal)
        case .existing(let partial, let length):
            take(partial)
            return .existing(length: length)
        case .skipped(let path):
            set(path: path)
            return .skipped
        }
    }

    private func take(_ partial: any Partial) {
        self.partial = partial
        machine.named(partial.name)
    }
}
