// Runs the tests of http-tests/cache-tests against a proxy, and prints what came of them as JSON.
//
//     node caching.mjs FOLDER PROXY PORT
//
// FOLDER has the project. Its origin server listens on the port, in this process. Tests that are only for CDNs are left
// out. All others run as against a reverse proxy, and those that are only for browsers as in a browser.

import fs from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const [folder, proxy, port] = process.argv.slice(2)
const part = name => import(pathToFileURL(path.join(folder, name)))

// The server and the runner write notes there.
console.log = () => {}
Object.assign(process.env, { npm_config_protocol: 'http', npm_config_port: port, npm_config_pidfile: '/dev/null' })
await part('test-engine/server/server.mjs')
const { runTests, getResults } = await part('test-engine/client/runner.mjs')
const { determineTestResult, resultTypes } = await part('test-engine/lib/results.mjs')
const suites = (await part('tests/index.mjs')).default
const others = (await part('results/index.mjs')).default

const kindOf = test => test.kind ?? 'required'
const tests = suites.flatMap(suite => suite.tests).filter(test => !test.cdn_only)
await runTests([{ tests: tests.filter(test => !test.browser_only) }], false, proxy)
await runTests([{ tests: tests.filter(test => test.browser_only) }], true, proxy)
const results = getResults()

const passes = (test, found) => determineTestResult(suites, test.id, found) === resultTypes.pass

function problem (test) {
  if (passes(test, results)) return undefined
  const result = results[test.id]
  if (result !== true) return `${result[0]}: ${result[1]}`
  return `depends on ${test.depends_on.join(', ')}`
}

// How many tests of a kind pass, of those that the results have.
function count (kind, found, among = tests) {
  const counted = among.filter(test => kindOf(test) === kind && test.id in found)
  return `${counted.filter(test => passes(test, found)).length} of ${counted.length}`
}

// The others are for shared caches, or are about what a browser's scripts don't see.
const ofBrowsers = tests.filter(test => !test.browser_skip)
const row = (name, found) => [
  name, ...['required', 'optimal'].map(kind => count(kind, found)),
  ...['required', 'optimal'].map(kind => count(kind, found, ofBrowsers))
]
const rows = [
  ['', 'all required', 'all optimal', 'browsers\': required', 'optimal'], row('this SDK', results),
  ...others.map(({ file, name, version }) =>
    row(`${name} ${version}`, JSON.parse(fs.readFileSync(path.join(folder, 'results', file)))))
]
const table = rows.map(([name, ...counts]) => name.padEnd(30) + counts.map(text => text.padStart(20)).join(''))

const cases = tests.filter(test => kindOf(test) === 'required').map(test => ({ id: test.id, problem: problem(test) }))
process.stdout.write(JSON.stringify({ cases, table }), () => process.exit())
