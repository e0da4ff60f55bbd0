#if canImport(SwiftUI)
    import Airline
    import AirlineServer
    import AtomNetworking
    import SwiftUI

    /// Shows the account of a member of an airline, whose server runs in the same process.
    @main
    struct AirlineApp: App {
        @State private var demonstration = Demonstration()

        var body: some Scene {
            WindowGroup("Airline") {
                Group {
                    if let account = demonstration.account {
                        RootView(account: account)
                            .toolbar { ServerMenu(demonstration: demonstration) }
                    } else {
                        ProgressView(demonstration.failure ?? "The airline's server is starting.")
                    }
                }
                .task { await demonstration.start() }
            }
        }
    }
#else
    /// There are no views without SwiftUI.
    @main
    enum AirlineApp {
        static func main() {
            print("This app's views need SwiftUI: run it on a Mac, or in a simulator.")
            print("Its view models run here too: swift test --package-path Example/App")
        }
    }
#endif
