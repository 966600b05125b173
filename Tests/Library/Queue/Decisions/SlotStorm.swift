import PawlBase
import PawlCore
import PawlQueue
import PawlTestKit

/// A scheduler of slots and a model of the engine that carries out its actions, under random events.
struct SlotStorm {
    /// A download as its user and the engine know it.
    struct Model {
        enum Order { case pause, remove }

        /// The user wants it to run.
        var isWanted = false
        var isInEngine = false
        var order: Order?
        /// Its slot was taken; a later order does not give it back.
        var isPreempted = false
        /// It has reported that it failed.
        var isFailed = false
        var isPublishing = false
        var isFinished = false
        var isRemoved = false
        var isForgotten = false
        var isDropped = false

        /// It uses the network and is not stopping.
        var isAtWork: Bool { isInEngine && !isPublishing && !isStopping }
        var isStopping: Bool { isInEngine && (order != nil || isPreempted || isFailed) }
    }

    private(set) var scheduler: SlotScheduler
    private(set) var models: [Model]
    private var slots: Int
    /// How many had slots when those were drained, also some that were stopping, until there are no more than slots.
    private var draining = 0
    /// The first law that was broken.
    private(set) var broken: String?
    private(set) var preemptions = 0

    init(downloads: Int, slots: Int) {
        scheduler = SlotScheduler(slots: slots)
        models = Array(repeating: Model(), count: downloads)
        self.slots = slots
        for id in models.indices { scheduler.add(UInt64(id)) }
    }

    // MARK: events

    /// One event that may happen now; without `meddles` the users do nothing.
    mutating func step(_ dice: inout Dice, meddles: Bool = true) {
        let id = Int.random(in: models.indices, using: &dice)
        if meddles, Int.random(in: 0..<3, using: &dice) == 0 {
            command(id, Int.random(in: 0..<20, using: &dice), &dice)
        } else {
            work(id, Int.random(in: 0..<4, using: &dice))
        }
        check()
    }

    private mutating func command(_ id: Int, _ kind: Int, _ dice: inout Dice) {
        guard !models[id].isForgotten else { return }
        switch kind {
        case 0:
            slots = Int.random(in: 1...4, using: &dice)
            draining = Bool.random(using: &dice) ? scheduler.running : 0
            perform(draining > 0 ? scheduler.drain(to: slots) : scheduler.change(slots: slots))
        case 1:
            models[id].isForgotten = true
            perform(scheduler.forget(UInt64(id)))
        case 2:
            models[id].isWanted = false
            models[id].isRemoved = true
            perform(scheduler.remove(UInt64(id)))
        case 3..<9:
            models[id].isWanted = false
            perform(scheduler.pause(UInt64(id)))
        default: resume(id)
        }
    }

    mutating func resume(_ id: Int) {
        let model = models[id]
        // Too late to change how this run ends.
        let isIgnored = model.isRemoved || model.isFinished || model.isPublishing && !model.isStopping
        if !isIgnored { models[id].isWanted = true }
        perform(scheduler.resume(UInt64(id)))
    }

    /// The engine gets on with a download.
    private mutating func work(_ id: Int, _ kind: Int) {
        guard models[id].isInEngine else { return }
        switch (kind, models[id].isStopping) {
        case (0, false):
            models[id].isFailed = true
            models[id].isWanted = false
            scheduler.rests(UInt64(id))
        case (1, _) where !models[id].isPublishing && !models[id].isFailed:
            models[id].isPublishing = true
            perform(scheduler.publishing(UInt64(id)))
        case (2, _): release(id)
        case (_, _): break
        }
    }

    private mutating func release(_ id: Int) {
        let model = models[id]
        // What is being published cannot be stopped.
        let phase: DownloadState =
            switch model.order {
            case _ where model.isFailed: .failed
            case _ where model.isPublishing: .finished
            case .pause: .paused
            case .remove: .removed
            case nil: model.isPreempted ? .preempted : .finished
            }
        if phase == .finished {
            models[id].isFinished = true
            models[id].isWanted = false
        }
        models[id].isInEngine = false
        models[id].order = nil
        models[id].isPreempted = false
        models[id].isFailed = false
        models[id].isPublishing = false
        perform(scheduler.released(UInt64(id), in: phase))
    }

    // MARK: actions

    private mutating func perform(_ actions: [SlotScheduler.Action]) {
        for action in actions {
            switch action {
            case .start(let id): start(Int(id))
            case .pause(let id): if models[Int(id)].isInEngine { models[Int(id)].order = .pause }
            case .remove(let id): if models[Int(id)].isInEngine { models[Int(id)].order = .remove }
            case .preempt(let id):
                preemptions += 1
                if !models[Int(id)].isAtWork { violate("\(id) is preempted and does not run") }
                models[Int(id)].isPreempted = true
            case .forget(let id):
                let model = models[Int(id)]
                if model.isInEngine || model.isDropped || !model.isForgotten { violate("\(id) is dropped") }
                models[Int(id)].isDropped = true
            }
        }
    }

    private mutating func start(_ id: Int) {
        if models[id].isInEngine { violate("\(id) is started twice") }
        if !models[id].isWanted { violate("\(id) is started and nobody wants it") }
        models[id].isInEngine = true
    }

    // MARK: laws

    private mutating func violate(_ text: String) { broken = broken ?? text }

    private mutating func check() {
        let atWork = models.count { $0.isAtWork }
        draining = scheduler.running <= slots ? 0 : min(draining, scheduler.running)
        if atWork > max(slots, draining) { violate("\(atWork) run in \(slots) slots") }
        let waiting = models.count { $0.isWanted && !$0.isInEngine }
        // A download that stops may have a slot again.
        if atWork < slots, waiting > 0, !models.contains(where: \.isStopping) {
            violate("\(waiting) wait, \(atWork) of \(slots) run")
        }
    }

    var isQuiet: Bool { !models.contains { $0.isInEngine || $0.isWanted } }
}
