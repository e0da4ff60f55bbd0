import SwiftUI

/// An app that shows nothing: the tests of the Keychain run in its process.
@main
struct Host: App {
    var body: some Scene {
        WindowGroup { EmptyView() }
    }
}
