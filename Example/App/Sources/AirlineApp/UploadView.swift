#if canImport(SwiftUI)
    import Airline
    import SwiftUI
    import UniformTypeIdentifiers

    struct UploadView: View {
        let upload: DocumentUpload
        @State private var isChoosing = false

        var body: some View {
            VStack(spacing: 20) {
                switch upload.phase {
                case .ready: Text("Choose a document for the airline.")
                case .sending(let fraction): ProgressView("Sending", value: fraction)
                case .sent(let bytes): Text("The airline has received \(bytes) bytes.")
                case .failed(let message): Text(message).foregroundStyle(.red)
                }
                if case .sending = upload.phase {
                    Button("Cancel") { upload.cancel() }
                } else {
                    Button("Choose…") { isChoosing = true }
                }
            }
            .padding()
            .fileImporter(isPresented: $isChoosing, allowedContentTypes: [.item]) { result in
                guard case .success(let file) = result else { return }
                // The system lends the file for as long as it is sent.
                let isLent = file.startAccessingSecurityScopedResource()
                let task = upload.send(file)
                Task {
                    await task.value
                    if isLent { file.stopAccessingSecurityScopedResource() }
                }
            }
        }
    }
#endif
