import AtomNetworking
import Misbehaviour

await Torture.run([
    ("libcurl", { try CurlTransport() }),
    ("URLSession", { URLSessionTransport() }),
])
