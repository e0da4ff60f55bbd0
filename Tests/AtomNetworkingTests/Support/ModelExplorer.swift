import Foundation
import Testing

/// A world in which a few things can happen, one after the other.
protocol ModelledWorld {
    associatedtype Step
    associatedtype Key: Hashable
    associatedtype Violation: Error

    /// What tells this state from all others.
    var key: Key { get }

    /// All that can happen next.
    var steps: [Step] { get }

    /// Whether everybody has heard.
    var isQuiet: Bool { get }

    /// Whether a step happens by itself, sooner or later.
    func isFair(_ step: Step) -> Bool

    mutating func take(_ step: Step) throws(Violation)
}

extension ModelledWorld where Self: Sendable {
    /// Expects that no state of this world breaks a rule.
    func expectEveryRule(_ name: String) async {
        let result = await ModelExplorer.explore(self)
        let extent = result.isWhole ? "" : ", the shortest ways"
        print("model: \(name): \(result.states) states, \(result.transitions) transitions\(extent)")
        #expect(result.counterexample == nil, "\(result.counterexample ?? "")")
        #expect(result.isWhole || !TestExtent.isWhole, "more than \(ModelExplorer<Self>.states) states")
    }

    /// Expects that the bug that is planted in this world is found.
    func expectBug(_ name: String) async {
        let result = await ModelExplorer.explore(self)
        guard let counterexample = result.counterexample else {
            Issue.record("\(name) is not found in \(result.states) states")
            return
        }
        let lines = counterexample.split(separator: "\n")
        print("model: \(name) is found after \(result.states) states, by \(lines.count - 1) steps: \(lines[0])")
    }
}

/// Walks all possible steps, breadth first, each state once.
struct ModelExplorer<World: ModelledWorld> {
    struct Result: Sendable {
        var states = 0
        var transitions = 0
        /// Whether every state was walked; if not, nobody knows whether all callers
        /// hear in the end.
        var isWhole = true
        /// The shortest path to something that must not happen.
        var counterexample: String?
    }

    private struct Origin {
        let state: Int32
        let step: World.Step?
    }

    private var origins: [Origin] = []
    private var indices: [World.Key: Int32] = [:]
    /// Reversed edges of steps that happen by themselves.
    private var fairEdges: [(from: Int32, to: Int32)] = []
    private var quiet: [Int32] = []

    /// How many states are walked.
    ///
    /// Among the other tests they are those of the shortest ways. A whole world that
    /// is larger has grown by mistake.
    static var states: Int { TestExtent.isWhole ? 300_000 : 4_000 }

    /// Walks a world on a thread of its own, and few worlds at the same time.
    static func explore(_ start: World) async -> Result where World: Sendable {
        await onAThreadOfItsOwn {
            places.wait()
            defer { places.signal() }
            var explorer = ModelExplorer()
            return explorer.run(start)
        }
    }

    private mutating func run(_ start: World) -> Result {
        var result = Result()
        var frontier = [(world: start, index: note(start.key, from: Origin(state: -1, step: nil)))]
        while !frontier.isEmpty {
            var next: [(world: World, index: Int32)] = []
            for (world, index) in frontier {
                if world.isQuiet { quiet.append(index) }
                let steps = world.steps
                if !world.isQuiet, !steps.contains(where: world.isFair) {
                    result.states = origins.count
                    result.counterexample = "nothing happens by itself any more\n\(script(to: index, then: nil))"
                    return result
                }
                for step in steps {
                    result.transitions += 1
                    var world = world
                    do throws(World.Violation) {
                        try world.take(step)
                    } catch {
                        result.states = origins.count
                        result.counterexample = "\(error)\n\(script(to: index, then: step))"
                        return result
                    }
                    let key = world.key
                    let known = indices[key]
                    let target = known ?? note(key, from: Origin(state: index, step: step))
                    if world.isFair(step) { fairEdges.append((index, target)) }
                    if known == nil { next.append((world, target)) }
                }
            }
            if origins.count > Self.states {
                result.isWhole = false
                break
            }
            frontier = next
        }
        result.states = origins.count
        if result.isWhole, let stuck = firstStuckState() {
            result.counterexample = "from here on somebody may never hear (G5)\n\(script(to: stuck, then: nil))"
        }
        return result
    }

    private mutating func note(_ key: World.Key, from origin: Origin) -> Int32 {
        let index = Int32(origins.count)
        origins.append(origin)
        indices[key] = index
        return index
    }

    /// A state from which no path leads to one in which every caller has been
    /// told, without the help of a deadline, a cancellation or the app.
    private func firstStuckState() -> Int32? {
        var starts = [Int32](repeating: 0, count: origins.count + 1)
        for edge in fairEdges { starts[Int(edge.to) + 1] += 1 }
        for index in 1..<starts.count { starts[index] += starts[index - 1] }
        var fill = starts
        var sources = [Int32](repeating: 0, count: fairEdges.count)
        for edge in fairEdges {
            sources[Int(fill[Int(edge.to)])] = edge.from
            fill[Int(edge.to)] += 1
        }
        var isReached = [Bool](repeating: false, count: origins.count)
        var pending = quiet
        for index in quiet { isReached[Int(index)] = true }
        while let index = pending.popLast() {
            for place in Int(starts[Int(index)])..<Int(starts[Int(index) + 1]) where !isReached[Int(sources[place])] {
                isReached[Int(sources[place])] = true
                pending.append(sources[place])
            }
        }
        return isReached.firstIndex(of: false).map { Int32($0) }
    }

    private func script(to index: Int32, then last: World.Step?) -> String {
        var steps: [World.Step] = last.map { [$0] } ?? []
        var index = index
        while index >= 0 {
            let origin = origins[Int(index)]
            if let step = origin.step { steps.append(step) }
            index = origin.state
        }
        return steps.reversed().enumerated().map { "  \($0.offset + 1). \($0.element)" }.joined(separator: "\n")
    }
}

private let places = DispatchSemaphore(value: ProcessInfo.processInfo.activeProcessorCount)
