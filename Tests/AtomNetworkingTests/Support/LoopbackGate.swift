import AtomNetworkingTesting

/// The tests of the SDK have no other gate.
typealias Gate = LoopbackServer.Gate
