// Decodes a flight this often, so that decoding can be deducted from a request:
// decode JSON COUNT

import Foundation
import Workload

let arguments = CommandLine.arguments
guard arguments.count == 3, let count = Int(arguments[2]), count > 0 else { fatalError("decode JSON COUNT") }
let data = Data(arguments[1].utf8)
let decoder = JSONDecoder()
for _ in 0..<count { _ = try decoder.decode(Flight.self, from: data) }
