import AtomNetworkingTesting
import Crypto
import Foundation

/// The page of a browser on which a user signs in, or reads how that has ended.
struct SignInPage {
    /// What the user fills in.
    struct Form {
        /// The path that it is sent to.
        let path: String
        /// What is sent with it.
        var hidden: [(name: String, value: String)] = []
        /// Who wants what; `nil` if that isn't known.
        var wish: (client: RegisteredClient, scopes: Set<Scope>)?
        /// The code of a device, if it is asked for.
        var userCode: String?
        var user = ""
        /// Where the browser is sent afterwards, if not to a page of the server.
        var redirectURI: String?
    }

    let title: String
    var message = ""
    var form: Form?

    /// The page; it has no scripts, stands in no frame, and is kept nowhere.
    func response(_ status: Int = 200) -> LoopbackServer.Response {
        // A browser looks at redirects of a form too.
        let target = form?.redirectURI.map { " " + $0.prefix { $0 != ":" } + ":" } ?? ""
        let style = Data(SHA256.hash(data: Data(Self.style.utf8))).base64EncodedString()
        let policy =
            "default-src 'none'; style-src 'sha256-\(style)'; form-action 'self'\(target); base-uri 'none'; "
            + "frame-ancestors 'none'"
        return .status(
            status,
            headers: [
                ("Content-Type", "text/html; charset=utf-8"), ("Cache-Control", "no-store"),
                ("Content-Security-Policy", policy), ("X-Frame-Options", "DENY"),
                ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
            ], body: Data(html.utf8))
    }

    private var html: String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>\(title.htmlEscaped)</title>
        <style>\(Self.style)</style>
        </head>
        <body>
        <main>
        <p class="brand">Atom Airlines</p>
        <h1>\(title.htmlEscaped)</h1>
        \(message.isEmpty ? "" : "<p role=\"alert\">\(message.htmlEscaped)</p>")
        \(form.map(Self.html(of:)) ?? "")
        </main>
        </body>
        </html>

        """
    }

    private static func html(of form: Form) -> String {
        let hidden = form.hidden.map {
            "<input type=\"hidden\" name=\"\($0.name.htmlEscaped)\" value=\"\($0.value.htmlEscaped)\">"
        }
        let wishes = Scope.allCases.filter { form.wish?.scopes.contains($0) == true }.map { "<li>\($0.meaning)</li>" }
        let wish = form.wish.map { "<p>The app <b>\($0.client.id.htmlEscaped)</b> wants to</p><ul>" }
        let code = form.userCode.map {
            """
            <label>Code on the device
            <input name="user_code" value="\($0.htmlEscaped)" autocomplete="off" autocapitalize="characters" required>
            </label>
            <p class="hint">Go on only if you have started this yourself, and the device in front of you shows the code.</p>
            """
        }
        return """
            \(wish.map { $0 + wishes.joined() + "</ul>" } ?? "")
            <form method="post" action="\(form.path)">
            \(hidden.joined(separator: "\n"))
            \(code ?? "")
            <label>User name
            <input name="username" value="\(form.user.htmlEscaped)" autocomplete="username" autocapitalize="none" required>
            </label>
            <label>Password
            <input name="password" type="password" autocomplete="current-password" required>
            </label>
            <button name="action" value="sign-in">Sign in</button>
            <button name="action" value="cancel" class="plain" formnovalidate>Cancel</button>
            </form>
            """
    }

    private static let style = """
        :root { color-scheme: light dark; --back: #eef2f7; --card: #fff; --text: #16202c; --soft: #5a6878;
          --line: #c3ccd7; --main: #0b5cad; --on: #fff; --bad: #b3261e }
        @media (prefers-color-scheme: dark) { :root { --back: #0e141b; --card: #18212c; --text: #e8eef5;
          --soft: #9fb0c3; --line: #3a4757; --main: #79b8ff; --on: #06213f; --bad: #ff9a92 } }
        * { box-sizing: border-box }
        body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; background: var(--back);
          color: var(--text); font: 1rem/1.5 system-ui, sans-serif }
        main { width: 100%; max-width: 24rem; padding: 2rem; border-radius: 1rem; background: var(--card);
          box-shadow: 0 .5rem 2rem #0002 }
        h1 { margin: .25rem 0 1rem; font-size: 1.5rem; line-height: 1.25 }
        p, ul { margin: 0 0 1rem } ul { padding-left: 1.25rem }
        .brand { margin: 0; color: var(--main); font-weight: 600 } .hint { color: var(--soft); font-size: .875rem }
        [role=alert] { color: var(--bad); font-weight: 600 }
        label { display: block; margin-bottom: 1rem; font-weight: 600 }
        input { display: block; width: 100%; margin-top: .25rem; padding: .625rem .75rem; border-radius: .5rem;
          border: 1px solid var(--line); background: transparent; color: inherit; font: inherit }
        button { width: 100%; margin-top: .5rem; padding: .75rem; border: 1px solid var(--main); border-radius: .5rem;
          background: var(--main); color: var(--on); font: inherit; font-weight: 600; cursor: pointer }
        .plain { border-color: var(--line); background: transparent; color: inherit }
        :focus-visible { outline: 3px solid var(--main); outline-offset: 2px }
        """
}

extension String {
    /// As text or the value of an attribute in HTML.
    var htmlEscaped: String {
        reduce(into: "") { text, character in
            switch character {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "'": text += "&#39;"
            default: text.append(character)
            }
        }
    }
}
