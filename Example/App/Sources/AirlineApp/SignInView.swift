#if canImport(SwiftUI)
    import Airline
    import SwiftUI

    /// The first sign-in.
    struct SignInView: View {
        let account: Account

        var body: some View {
            PasswordForm(message: account.message, isBusy: account.isSigningIn) { user, password in
                await account.signIn(user: user, password: password)
            }
        }
    }

    /// The sign-in over a screen whose requests wait for it.
    struct LoginSheet: View {
        let prompt: LoginPrompt

        var body: some View {
            NavigationStack {
                PasswordForm(message: prompt.message, isBusy: prompt.isSubmitting) { user, password in
                    await prompt.submit(user: user, password: password)
                }
                .toolbar { Button("Close") { prompt.close() } }
            }
        }
    }

    private struct PasswordForm: View {
        let message: String?
        let isBusy: Bool
        let submit: (String, String) async -> Void
        @State private var user = "ada"
        @State private var password = ""

        var body: some View {
            Form {
                if let message {
                    Text(message).foregroundStyle(.red)
                }
                TextField("User name", text: $user)
                SecureField("Password (Ada's is lovelace)", text: $password)
                Button("Sign in") {
                    Task { await submit(user, password) }
                }
                .disabled(isBusy)
            }
            .padding()
        }
    }
#endif
