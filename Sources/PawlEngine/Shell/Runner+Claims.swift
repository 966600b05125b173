import PawlCore

// Where the file goes: before the first request when its name is known, else with the first answer.
extension Runner {
    /// A name that the person chose, or an earlier run's partial of the same address, is claimed before any request.
    func earlyClaim() -> ClaimOutcome? {
        let address = job.plan.sources[0]
        if let name = job.fileName {
            // It may be complete: what the server has now tells.
            return mayBeComplete(name) ? nil : claim(name: name, adoptsAny: true)
        }
        if let name = disk.unfinished(of: addresses[0], in: job.folder), job.isOthers?(name) != true {
            return claim(name: name, adoptsAny: false)
        }
        // A file of the address's own name is meant by `skip` and `resume`; nothing needs to be asked for it (C3).
        let mayBeThere = job.ifExists == .skip || job.ifExists == .resume
        guard job.naming != .server || mayBeThere else { return nil }
        let name = NamingPolicy.choose(job.naming, address: address, head: nil)
        guard job.naming != .server || disk.holds(name, in: job.folder), !mayBeComplete(name) else {
            return nil
        }
        return claim(name: name, adoptsAny: false)
    }

    /// Whether a finished file of this address is there; others of the name mean what `ifExists` says of them.
    private func mayBeComplete(_ name: String) -> Bool {
        job.ifExists == .rename && disk.wasFinished(name, from: addresses[0], in: job.folder)
    }

    /// What the bytes are of, in the first address's own words.
    var content: ContentFingerprint? {
        machine.representation?.fingerprint(of: addresses[0], wish: job.plan.wish)
    }

    /// The name comes with the answer to `lane`.
    func claim(_ lane: LaneID) {
        guard let index = machine.lanes.first(where: { $0.id == lane })?.source else { return }
        // The name is the redirect target's, as browsers do it; its head speaks first.
        let address = machine.sources[index].current
        let name = job.fileName ?? NamingPolicy.choose(job.naming, address: address, head: lastHead)
        let outcome = claim(name: name, adoptsAny: job.fileName != nil)
        perform(machine.claimed(lane, outcome, now: clock.now))
    }

    private func claim(name: String, adoptsAny: Bool) -> ClaimOutcome {
        var facts = self.facts
        facts.name = name
        var wish = Claim(folder: job.folder, name: name, ifExists: job.ifExists, facts: facts)
        wish.isChosen = job.fileName != nil
        if lastHead != nil {
            wish.content = { [representation = facts.representation, source = addresses[0], part = job.plan.wish] in
                representation.fingerprint(of: source, wish: part)
            }
            wish.length = machine.map.total
        }
        if let isOthers = job.isOthers { wish.isOthers = isOthers }
        do throws(Failure) {
            let answer = try disk.claim(wish) { found in
                adoptsAny || adopts(found)
            }
            return take(answer)
        } catch {
            return .failed(error)
        }
    }

    /// A partial of an address that differs in its query only is continued when the strong tag is the same (A8: signed
    /// addresses change); the machine compares bytes before it believes that.
    ///
    /// Any other partial is another download's, and stays that one's (A9).
    private func adopts(_ found: LoadedJournal) -> Bool {
        guard let offered = machine.representation, let source = found.facts.sources.first,
            found.facts.representation.resembles(offered)
        else { return false }
        do throws(Failure) {
            var before = try WebAddress.parse(source).address
            var now = job.plan.sources[0]
            before.query = nil
            now.query = nil
            return before == now
        } catch {
            return false
        }
    }

    private func take(_ answer: ClaimResult) -> ClaimOutcome {
        switch answer {
        case .fresh(let partial):
            take(partial)
            return .fresh
        case .found(let partial, let journal):
            take(partial)
            naming.isProvisional = journal.facts.name.isEmpty
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
