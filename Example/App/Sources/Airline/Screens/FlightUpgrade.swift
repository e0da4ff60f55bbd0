import AtomNetworking
import AtomNetworkingSignIn
import Observation

/// Spends miles for a better seat, which the member has to allow on the server's page.
@Observable
public final class FlightUpgrade {
    /// Whether an order is on its way.
    public private(set) var isOrdering = false
    /// What came of the last order.
    public private(set) var message: String?

    private let service: AirlineService

    /// Creates an order over a service.
    public init(_ service: AirlineService) {
        self.service = service
    }

    /// Orders an upgrade; does nothing while another order is on its way.
    public func order(for flight: String) async {
        guard !isOrdering else { return }
        isOrdering = true
        message = nil
        defer { isOrdering = false }
        let request = service.atom.enqueue(AccountEndpoint.upgrade(service.base, flight: flight))
        do throws(AtomError) {
            let upgrade: Upgrade
            do throws(AtomError) {
                upgrade = try await request.resume(expecting: Upgrade.self)
            } catch {
                // `withStepUp(of:scopes:_:)` does this for requests that go out by themselves. It asks once for the
                // same scopes, but here the person has pressed a button.
                guard let challenge = ScopeChallenge(error) else { throw error }
                try await service.signIn.signIn(to: service.atom, for: challenge)
                upgrade = try await request.resume(expecting: Upgrade.self)
            }
            message = "You fly in the \(upgrade.cabin) cabin of \(upgrade.flight)."
        } catch {
            message = ErrorMessage.text(for: error)
        }
    }
}
