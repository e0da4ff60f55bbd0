#if canImport(SwiftUI)
    import Airline
    import SwiftUI

    /// Shown while nobody is signed in; the server's page is shown over it.
    struct SignInView: View {
        let account: Account

        var body: some View {
            VStack(spacing: 20) {
                if let message = account.message {
                    Text(message).foregroundStyle(.red)
                }
                Button("Sign in") { Task { await account.signIn() } }
                    .disabled(account.isSigningIn)
                Text("As ada, with the password lovelace").foregroundStyle(.secondary)
            }
            .padding()
        }
    }
#endif
