import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, normalize, relative } from 'node:path';

import { noRedisReason } from './no-redis-reason.ts';
import { FILES_ON_REDIS } from './suite/files-on-redis.ts';
import {
  searchCommands,
  searchKeys,
  searchLogs,
  searchMetrics,
  searchSpans,
  type Search,
} from './suite/search.ts';
import { CANARY } from './suite/secret.ts';
import { RECORD_VARIABLE, SuiteRecord } from './suite/suite-record.ts';

const SHOWN_FINDINGS = 10;

/**
 * Runs tests of whole gateways, each gateway on a Redis of its own, and searches for every secret of
 * the run: in the final contents of Redis, in every command that it ran, in the logs, in spans and in metrics.
 */
async function main(files: readonly string[]): Promise<number> {
  if (noRedisReason !== undefined) {
    console.error(`nothing ran on Redis: ${noRedisReason}`);
    return process.env['CI'] === undefined ? 0 : 1;
  }
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-redis-suite-'));
  try {
    return await runSuite(directory, files.length > 0 ? files : FILES_ON_REDIS);
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function runSuite(directory: string, files: readonly string[]): Promise<number> {
  const testsPassed = await runTests(files, directory);
  const record = new SuiteRecord(directory);
  const secrets = await record.secrets();
  const opened = await record.testPaths('opened');
  const results = [
    reportSearch('keys', await searchKeys(record, secrets), opened.length),
    reportSearch('commands', await searchCommands(record, secrets), opened.length),
    reportSearch('lines of log', await searchLogs(record, secrets), 0),
    reportSearch('spans', await searchSpans(record, secrets), 0),
    reportSearch('lines of metrics', await searchMetrics(record, secrets), 0),
    reportGateways(files, opened, (await record.testPaths('closed')).length),
  ];
  return testsPassed && results.every((isGood) => isGood) ? 0 : 1;
}

async function runTests(files: readonly string[], directory: string): Promise<boolean> {
  const child = spawn('npm', ['run', '--silent', 'test', '--', '--runTestsByPath', ...files], {
    stdio: 'inherit',
    env: { ...process.env, [RECORD_VARIABLE]: directory },
  });
  await once(child, 'close');
  return child.exitCode === 0;
}

/** Prints how many gateways ran. Returns false if one was not closed, or a file opened none on Redis. */
function reportGateways(
  files: readonly string[],
  opened: readonly string[],
  closed: number,
): boolean {
  const left = opened.length - closed;
  console.log(
    `${String(opened.length)} gateways ran on Redis, ${String(left)} of them were not closed`,
  );
  const onRedis = new Set(opened.map((path) => relative(process.cwd(), path)));
  const without = files.filter((file) => !onRedis.has(normalize(file)));
  for (const file of without) console.log(`  ${file} opened no gateway on Redis`);
  return left === 0 && without.length === 0;
}

/** Prints what was searched and found. Returns false if a secret was found, or a canary was not. */
function reportSearch(
  what: string,
  { looked, secrets, findings }: Search,
  canaries: number,
): boolean {
  const found = findings.filter(({ kind }) => kind !== CANARY);
  console.log(
    `looked for ${String(secrets)} secrets in ${String(looked)} ${what}: found ${String(found.length)}`,
  );
  // One of each kind and place says as much as a thousand.
  const kinds = new Map(found.map((finding) => [`${finding.kind} in ${finding.place}`, finding]));
  for (const [where, { excerpt }] of [...kinds].slice(0, SHOWN_FINDINGS)) {
    console.log(`  ${where}: ${JSON.stringify(excerpt)}`);
  }
  const missed = canaries - (findings.length - found.length);
  if (missed !== 0) console.log(`  the search missed ${String(missed)} canaries`);
  return looked > 0 && missed === 0 && found.length === 0;
}

process.exitCode = await main(process.argv.slice(2));
