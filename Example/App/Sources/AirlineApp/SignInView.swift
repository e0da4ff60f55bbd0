#if canImport(SwiftUI)
    import Airline
    import SwiftUI

    struct SignInView: View {
        let account: Account
        @State private var user = "ada"
        @State private var password = ""

        var body: some View {
            Form {
                if let message = account.message {
                    Text(message).foregroundStyle(.red)
                }
                TextField("User name", text: $user)
                SecureField("Password (Ada's is lovelace)", text: $password)
                Button("Sign in") {
                    Task { await account.signIn(user: user, password: password) }
                }
                .disabled(account.isSigningIn)
            }
            .padding()
        }
    }
#endif
