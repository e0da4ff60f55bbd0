import Foundation

/// What is said to people: the table of all sentences in all languages.
///
/// It is code, and not files in a bundle, because a bundle can be missing beside a program.
struct SentenceForPeople {
    /// Its name in the table of an app that has another sentence.
    let key: String
    let en: String
    let ar: String
    let de: String
    let es: String
    let fr: String
    let it: String
    let ja: String
    let ko: String
    let pt: String
    let ru: String
    let zh: String
}

extension SentenceForPeople {
    /// The app's table, such as `AtomNetworking.strings`.
    private static let table = "AtomNetworking"

    /// The sentence in the languages of an app, or the app's own.
    func text(for app: Bundle) -> String {
        app.localizedString(forKey: key, value: text(in: app.preferredLocalizations), table: Self.table)
    }

    func text(in languages: [String]) -> String { languages.lazy.compactMap(text(in:)).first ?? en }

    /// The sentence in a language with any region, as in `de-AT` and `de_AT.UTF-8`; `nil` if there is none.
    private func text(in language: String) -> String? {
        let parts = language.lowercased().prefix { !".@".contains($0) }.split { "-_".contains($0) }
        return switch parts.first {
        case "en": en
        case "ar": ar
        case "de": de
        case "es": es
        case "fr": fr
        case "it": it
        case "ja": ja
        case "ko": ko
        case "pt": pt
        case "ru": ru
        // Whoever reads the traditional characters may not read these.
        case "zh" where parts.contains("hans") || !parts.contains { ["hant", "tw", "hk", "mo"].contains($0) }: zh
        default: nil
        }
    }

    /// - Parameter again: Whether somebody was signed in until then.
    init(_ situation: AtomError.Situation, again: Bool = false) {
        self =
            switch situation {
            case .offline:
                .init(
                    key: "offline", en: "You are offline.", ar: "لا يوجد اتصال بالإنترنت.",
                    de: "Sie sind offline.", es: "No hay conexión a internet.", fr: "Vous êtes hors ligne.",
                    it: "Connessione a Internet assente.", ja: "インターネットに接続されていません。", ko: "인터넷에 연결되어 있지 않습니다.",
                    pt: "Sem acesso à internet.", ru: "Нет подключения к интернету.", zh: "当前没有网络连接。")
            case .unreachable:
                .init(
                    key: "unreachable", en: "The server doesn't respond. Try again later.",
                    ar: "الخادم لا يستجيب. يُرجى المحاولة مرة أخرى لاحقًا.",
                    de: "Der Server antwortet nicht. Bitte versuchen Sie es später noch einmal.",
                    es: "El servidor no responde. Inténtelo de nuevo más tarde.",
                    fr: "Le serveur ne répond pas. Veuillez réessayer plus tard.",
                    it: "Il server non risponde. Riprovare più tardi.", ja: "サーバーが応答しません。しばらくしてからもう一度お試しください。",
                    ko: "서버가 응답하지 않습니다. 나중에 다시 시도해 주세요.",
                    pt: "O servidor não responde. Tente novamente mais tarde.",
                    ru: "Сервер не отвечает. Повторите попытку позже.", zh: "服务器没有响应。请稍后再试。")
            case .insecureConnection:
                .init(
                    key: "insecureConnection", en: "The connection to the server isn't secure.",
                    ar: "الاتصال بالخادم غير آمن.", de: "Die Verbindung zum Server ist nicht sicher.",
                    es: "La conexión con el servidor no es segura.",
                    fr: "La connexion au serveur n’est pas sécurisée.",
                    it: "La connessione al server non è sicura.", ja: "サーバーへの接続が安全ではありません。",
                    ko: "서버와의 연결이 안전하지 않습니다.", pt: "A ligação ao servidor não é segura.",
                    ru: "Соединение с сервером небезопасно.", zh: "与服务器的连接不安全。")
            case .secureConnectionRequired:
                .init(
                    key: "secureConnectionRequired", en: "This server needs a secure connection.",
                    ar: "يتطلب هذا الخادم اتصالًا آمنًا.",
                    de: "Dieser Server erfordert eine sichere Verbindung.",
                    es: "Este servidor requiere una conexión segura.",
                    fr: "Ce serveur exige une connexion sécurisée.",
                    it: "Questo server richiede una connessione sicura.", ja: "このサーバーには安全な接続が必要です。",
                    ko: "이 서버에는 보안 연결이 필요합니다.", pt: "Este servidor exige uma ligação segura.",
                    ru: "Для этого сервера требуется защищённое соединение.", zh: "此服务器需要安全连接。")
            case .serverProblem:
                .init(
                    key: "serverProblem", en: "The server has a problem. Try again later.",
                    ar: "حدثت مشكلة في الخادم. يُرجى المحاولة مرة أخرى لاحقًا.",
                    de: "Der Server hat ein Problem. Bitte versuchen Sie es später noch einmal.",
                    es: "El servidor tiene un problema. Inténtelo de nuevo más tarde.",
                    fr: "Le serveur rencontre un problème. Veuillez réessayer plus tard.",
                    it: "Il server ha un problema. Riprovare più tardi.",
                    ja: "サーバーで問題が発生しました。しばらくしてからもう一度お試しください。", ko: "서버에 문제가 발생했습니다. 나중에 다시 시도해 주세요.",
                    pt: "O servidor está com um problema. Tente novamente mais tarde.",
                    ru: "На сервере возникла проблема. Повторите попытку позже.", zh: "服务器出现问题。请稍后再试。")
            case .signInRequired where again:
                .init(
                    key: "signInAgain", en: "You have to sign in again.", ar: "يجب تسجيل الدخول مرة أخرى.",
                    de: "Sie müssen sich erneut anmelden.", es: "Debe iniciar sesión de nuevo.",
                    fr: "Vous devez vous reconnecter.", it: "È necessario accedere di nuovo.",
                    ja: "もう一度サインインする必要があります。", ko: "다시 로그인해야 합니다.",
                    pt: "É necessário iniciar sessão novamente.", ru: "Необходимо снова войти в систему.",
                    zh: "您需要重新登录。")
            case .signInRequired:
                .init(
                    key: "signInRequired", en: "You have to sign in.", ar: "يجب تسجيل الدخول.",
                    de: "Sie müssen sich anmelden.", es: "Debe iniciar sesión.",
                    fr: "Vous devez vous connecter.", it: "È necessario accedere.", ja: "サインインする必要があります。",
                    ko: "로그인해야 합니다.", pt: "É necessário iniciar sessão.", ru: "Необходимо войти в систему.",
                    zh: "您需要登录。")
            case .notAllowed:
                .init(
                    key: "notAllowed", en: "You aren't allowed to do this.", ar: "ليس لديك إذن للقيام بذلك.",
                    de: "Sie sind dazu nicht berechtigt.", es: "No tiene permiso para hacer esto.",
                    fr: "Cette action n’est pas autorisée.", it: "Questa operazione non è consentita.",
                    ja: "この操作は許可されていません。", ko: "이 작업을 할 권한이 없습니다.",
                    pt: "Sem permissão para fazer isto.", ru: "У вас нет прав на это действие.",
                    zh: "您没有执行此操作的权限。")
            case .notFound:
                .init(
                    key: "notFound", en: "This could not be found.", ar: "تعذّر العثور على ذلك.",
                    de: "Das konnte nicht gefunden werden.", es: "No se ha encontrado.",
                    fr: "Élément introuvable.", it: "Elemento non trovato.", ja: "見つかりませんでした。",
                    ko: "찾을 수 없습니다.", pt: "Não foi encontrado.", ru: "Не удалось это найти.",
                    zh: "找不到此内容。")
            case .invalidInput:
                .init(
                    key: "invalidInput", en: "Something that was entered isn't valid.",
                    ar: "بعض البيانات المُدخلة غير صالحة.", de: "Eine Eingabe ist ungültig.",
                    es: "Un dato introducido no es válido.", fr: "Une information saisie n’est pas valide.",
                    it: "Un dato inserito non è valido.", ja: "入力された内容が正しくありません。", ko: "입력한 내용이 올바르지 않습니다.",
                    pt: "Um dos dados introduzidos não é válido.", ru: "Введены недопустимые данные.", zh: "输入的内容无效。")
            case .fileProblem:
                .init(
                    key: "fileProblem", en: "A file or folder on this device can't be used.",
                    ar: "تعذّر استخدام ملف أو مجلد على هذا الجهاز.",
                    de: "Eine Datei oder ein Ordner auf diesem Gerät ist nicht verwendbar.",
                    es: "No se puede usar un archivo o una carpeta de este dispositivo.",
                    fr: "Un fichier ou un dossier de cet appareil est inutilisable.",
                    it: "Impossibile usare un file o una cartella di questo dispositivo.",
                    ja: "このデバイス上のファイルまたはフォルダを使用できません。", ko: "이 기기의 파일이나 폴더를 사용할 수 없습니다.",
                    pt: "Não é possível usar um ficheiro (arquivo) ou uma pasta deste dispositivo.",
                    ru: "Не удаётся использовать файл или папку на этом устройстве.", zh: "无法使用此设备上的文件或文件夹。")
            case .noSpace:
                .init(
                    key: "noSpace", en: "There isn't enough space on this device.",
                    ar: "لا توجد مساحة كافية على هذا الجهاز.",
                    de: "Auf diesem Gerät ist nicht genügend Speicherplatz frei.",
                    es: "No hay suficiente espacio en este dispositivo.",
                    fr: "L’espace disponible sur cet appareil est insuffisant.",
                    it: "Spazio insufficiente su questo dispositivo.", ja: "このデバイスの空き容量が足りません。",
                    ko: "이 기기의 저장 공간이 부족합니다.", pt: "Não há espaço suficiente neste dispositivo.",
                    ru: "На этом устройстве недостаточно места.", zh: "此设备的储存空间不足。")
            case .cancelled:
                .init(
                    key: "cancelled", en: "This was cancelled.", ar: "تم الإلغاء.",
                    de: "Das wurde abgebrochen.", es: "Operación cancelada.", fr: "Opération annulée.",
                    it: "Operazione annullata.", ja: "キャンセルされました。", ko: "취소되었습니다.",
                    pt: "A operação foi cancelada.", ru: "Действие отменено.", zh: "操作已取消。")
            case .other:
                .init(
                    key: "other", en: "Something went wrong.", ar: "حدث خطأ ما.",
                    de: "Es ist ein Fehler aufgetreten.", es: "Se ha producido un error.",
                    fr: "Une erreur est survenue.", it: "Si è verificato un problema.", ja: "問題が発生しました。",
                    ko: "문제가 발생했습니다.", pt: "Ocorreu um erro.", ru: "Что-то пошло не так.", zh: "出了点问题。")
            }
    }
}
