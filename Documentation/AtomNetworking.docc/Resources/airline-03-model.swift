import AtomNetworking
import Foundation

struct Flight: Model {
    let number: String
    let destination: String
}
