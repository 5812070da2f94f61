import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { noRedisReason } from './no-redis-reason.ts';
import { RECORD_VARIABLE } from './suite/default-stores.ts';
import { searchCommands, searchKeys, searchLogs, type Search } from './suite/search.ts';
import { CANARY } from './suite/secret.ts';
import { SuiteRecord } from './suite/suite-record.ts';

/** Tests of whole gateways; others may be named on the command line. */
const PATHS = ['test/conformance', 'test/integration'];

/**
 * Tests that start no whole gateway, or one with stores or a Redis of its own. Of the parts, several
 * have a clock that stands still, which that of a Redis cannot.
 */
const LEFT_OUT = [
  'conformance/(authorization|metadata|registration|revocation|token)[.]test',
  'conformance/(client-id-metadata-documents|coverage|forwarder|policy-language|smuggling)[.]test',
  'conformance/(store-outage|trusted-proxies)[.]test',
  'integration/(configuration|demo|sign-in)[.]test',
  'integration/(killed-proxy|redis-[a-z]+|revocation-bounds|run-with-redis|two-proxies)[.]test',
];

const SHOWN_FINDINGS = 10;

/**
 * Runs the tests of whole gateways, each gateway on a real Redis of its own, and looks for everything
 * secret that came up: in what Redis held at the end, in every command that it ran, and in the logs.
 */
async function main(paths: readonly string[]): Promise<number> {
  if (noRedisReason !== undefined) {
    console.error(`nothing ran on Redis: ${noRedisReason}`);
    return process.env['CI'] === undefined ? 0 : 1;
  }
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-redis-suite-'));
  try {
    return await runSuite(directory, paths.length > 0 ? paths : PATHS);
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function runSuite(directory: string, paths: readonly string[]): Promise<number> {
  const testsPassed = await runTests(paths, directory);
  const record = new SuiteRecord(directory);
  const secrets = await record.secrets();
  const gateways = await record.count('opened');
  const left = gateways - (await record.count('closed'));
  const results = [
    report('keys', await searchKeys(record, secrets), gateways),
    report('commands', await searchCommands(record, secrets), gateways),
    report('lines of log', await searchLogs(record, secrets), 0),
  ];
  console.log(`${String(gateways)} gateways ran on Redis, ${String(left)} of them were not closed`);
  const isWhole = gateways > 0 && left === 0;
  return testsPassed && isWhole && results.every((isClean) => isClean) ? 0 : 1;
}

async function runTests(paths: readonly string[], directory: string): Promise<boolean> {
  const leftOut = `--testPathIgnorePatterns=/node_modules/|${LEFT_OUT.join('|')}`;
  // Everything that follows the option would be another value of it.
  const child = spawn('npm', ['run', '--silent', 'test', '--', ...paths, leftOut], {
    stdio: 'inherit',
    env: { ...process.env, [RECORD_VARIABLE]: directory },
  });
  await once(child, 'close');
  return child.exitCode === 0;
}

/** Says what was searched and found. False when that is a secret, or when a canary is not found. */
function report(what: string, { looked, secrets, findings }: Search, canaries: number): boolean {
  const found = findings.filter(({ kind }) => kind !== CANARY);
  console.log(
    `looked for ${String(secrets)} secrets in ${String(looked)} ${what}: found ${String(found.length)}`,
  );
  for (const { kind, place, excerpt } of found.slice(0, SHOWN_FINDINGS)) {
    console.log(`  ${kind} in ${place}: ${JSON.stringify(excerpt)}`);
  }
  const missed = canaries - (findings.length - found.length);
  if (missed !== 0) console.log(`  the search misses what is there: ${String(missed)} canaries`);
  return looked > 0 && missed === 0 && found.length === 0;
}

process.exitCode = await main(process.argv.slice(2));
