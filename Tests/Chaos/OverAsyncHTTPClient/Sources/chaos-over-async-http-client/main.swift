import AsyncHTTPClientTransport
import ChaosRig

await Chaos.run(over: ["AsyncHTTPClient": { AsyncHTTPClientTransport() }])
