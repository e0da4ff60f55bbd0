import AtomNetworking
import Foundation

/// A session of this process: whose it is, and who may still be meant by a request.
///
/// From before a sign-in until it has returned a request may be the old person's or the
/// new one's; after that only the new one's.
final class Door: Sendable {
    /// Stands for every session of the store: another process signs in and out, too, or
    /// did so before this one began.
    static let anyone = -1

    let name: String
    let people: [String]
    let atoms: [Atom]
    let watches: [Watch]
    private let isShared: Bool
    /// Whose session it was, one after the other, as numbers of the server's sessions.
    private let eras: Locked<[Set<Int>]>
    private let owners = Locked<[Int: String]>([:])
    /// The downloads' places that are in use.
    private let busySlots = Locked<Set<Int>>([])

    /// - Parameter isShared: Whether other processes use the same store.
    init(
        _ name: String, _ people: [String], isShared: Bool, isKept: Bool, atoms: [Atom], watches: [Watch]
    ) {
        self.name = name
        self.people = people
        self.isShared = isShared
        self.atoms = atoms
        self.watches = watches
        eras = Locked([isShared || isKept ? [Self.anyone] : []])
    }

    var era: Int { eras.with { $0.count - 1 } }

    /// Whose session it was from an era on until now.
    func sessions(since era: Int) -> Set<Int> { eras.with { $0[era...].reduce(into: []) { $0.formUnion($1) } } }

    func owners(of sessions: Set<Int>) -> Set<String> {
        sessions.contains(Self.anyone)
            ? Set(people) : owners.with { owners in Set(sessions.compactMap { owners[$0] }) }
    }

    // MARK: - Signing in and out

    /// A token response that says which session it is of.
    private struct Grant: Decodable, Sendable {
        private enum CodingKeys: CodingKey { case family }

        let tokens: TokenCredential
        let family: Int

        init(from decoder: any Decoder) throws {
            tokens = try TokenCredential(from: decoder)
            family = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .family)
        }
    }

    func signIn(_ person: String, over open: Atom, at base: BaseURL) async {
        do {
            let call = Call(
                base: base, path: "/sign-in", method: .post, isSigned: false,
                body: .form([QueryItem(name: "username", value: person), QueryItem(name: "store", value: name)]))
            let grant = try await open.enqueue(call).resume(expecting: Grant.self)
            owners.with { $0[grant.family] = person }
            append { $0.union([grant.family]) }
            do {
                try await atoms[0].signIn(with: grant.tokens)
            } catch {
                Report.count("sign-ins that could not be stored")
            }
            append { _ in [grant.family] }
        } catch {
            Report.count("sign-ins that failed")
        }
    }

    func signOut() async {
        do {
            try await atoms[0].signOut()
        } catch {
            Report.count("sign-outs that could not be stored")
        }
        append { _ in [] }
        Report.count("sign-outs")
    }

    private func append(_ change: (Set<Int>) -> Set<Int>) {
        guard !isShared else { return }
        eras.with { $0.append(change($0[$0.count - 1])) }
    }

    // MARK: - Places for downloads

    func takeSlot(_ slot: Int) -> Bool { busySlots.with { $0.insert(slot).inserted } }
    func giveBack(_ slot: Int) { busySlots.with { _ = $0.remove(slot) } }
}

/// A device's clock, which somebody sets again and again.
struct Clock: TimeSource {
    static let shared = Clock()
    private let system = ServiceConfiguration().timeSource
    private let offset = Locked(0.0)

    var now: MonotonicInstant { system.now }
    var date: Date { system.date.addingTimeInterval(offset.value) }
    func makeAlarm(ring: @escaping @Sendable () -> Void) -> any Alarm { system.makeAlarm(ring: ring) }

    func set(_ seconds: Double) { offset.with { $0 = seconds } }
}
