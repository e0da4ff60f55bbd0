import AsyncHTTPClientTransport
import Misbehaviour

await Torture.run([("AsyncHTTPClient", { AsyncHTTPClientTransport() })])
