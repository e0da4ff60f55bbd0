import AtomNetworking
import ChaosRig

await Chaos.run(over: ["libcurl": { try CurlTransport() }, "URLSession": { URLSessionTransport() }])
