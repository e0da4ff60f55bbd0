// refused: 'resume(expecting:progress:)' is deprecated
import AtomNetworking

func load(_ service: Service) async throws {
    // The closure is meant for the result.
    _ = try await service.resume(expecting: [String].self) { print($0) }
}
