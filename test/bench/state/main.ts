/**
 * Measures the cost of state in Redis: CPU and latency of an authenticated `tools/call` whose token is
 * cached and not, compared with state in memory; commands to Redis per request; and the time until a
 * revocation at one gateway takes effect at another.
 *
 * All are measured in one run, in interleaved rounds; only the ratios and counts mean something.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';

import { startRedis, type TestRedis } from '../../support/redis/start-redis.ts';
import { startProgram, type BenchProgram } from '../support/bench-program.ts';
import { percentile } from '../support/percentile.ts';
import { LOAD_CORE, moveToCore, SUBJECT_CORE } from '../support/pinned.ts';
import { cpuOfTree } from '../support/process-cpu.ts';
import { GatewayClient } from './client.ts';

const ROUNDS = 7;
const CONNECTIONS = 16;
const TOKENS = 500;
/** Tokens that a lone client uses, to measure latency. */
const LONE_TOKENS = 50;
/** How often the other tokens are used in a row while they are warm. */
const WARM_PASSES = 2;
/** How long a check is cached; a pass that took longer was not all warm, and is measured again. */
const FRESH_MS = 5000;
const MAX_ATTEMPTS = 10;
const REVOCATIONS = 50;
/** Subscriptions ping Redis at intervals, independent of requests. */
const HEARTBEAT = 'ping';
const BASELINE = 'memory, warm';

interface Subject extends BenchProgram {
  readonly client: GatewayClient;
}

interface Case {
  readonly name: string;
  readonly subject: Subject;
  readonly isWarm: boolean;
  /** CPU microseconds per request, one value a round. */
  readonly costs: number[];
  /** Milliseconds, one value per request of a lone client. */
  readonly latencies: number[];
  requests: number;
  commands: Map<string, number>;
}

async function start(program: string, core: number, args: readonly string[]): Promise<Subject> {
  const started = await startProgram(join(import.meta.dirname, program), { core, args });
  return { ...started, client: new GatewayClient(started.port, CONNECTIONS) };
}

/** Empties the caches. */
async function forget({ process: child }: Subject): Promise<void> {
  const done = once(child, 'message');
  child.send('forget');
  await done;
}

/** How often each command was run, also by scripts; without heartbeats and the command that counts. */
async function commandCounts(redis: TestRedis): Promise<ReadonlyMap<string, number>> {
  const text = String(await redis.send('INFO', 'commandstats'));
  const counts = new Map<string, number>();
  for (const [, command = '', calls = ''] of text.matchAll(/cmdstat_([^:]+):calls=(\d+)/g)) {
    if (command !== 'info' && command !== HEARTBEAT) counts.set(command, Number(calls));
  }
  return counts;
}

/** Results of one round. */
interface Sample {
  readonly cost: number;
  readonly latencies: readonly number[];
  readonly requests: number;
  readonly commands: ReadonlyMap<string, number>;
  readonly tookMs: number;
}

async function sample({ subject, isWarm }: Case, redis: TestRedis): Promise<Sample> {
  const { client } = subject;
  const tokens = subject.tokens.slice(0, TOKENS);
  const [lone, others] = [tokens.slice(0, LONE_TOKENS), tokens.slice(LONE_TOKENS)];
  await forget(subject);
  const start = performance.now();
  if (isWarm) await client.callWithEach(tokens, CONNECTIONS);
  const commandsBefore = await commandCounts(redis);
  const latencies = await client.callWithEach(lone, 1);
  const before = cpuOfTree(subject.pid);
  const passes = isWarm ? WARM_PASSES : 1;
  for (let pass = 0; pass < passes; pass += 1) await client.callWithEach(others, CONNECTIONS);
  const cost = (cpuOfTree(subject.pid) - before) / (passes * others.length);
  const tookMs = performance.now() - start;
  const commands = difference(await commandCounts(redis), commandsBefore);
  return { cost, latencies, requests: lone.length + passes * others.length, commands, tookMs };
}

function difference(
  after: ReadonlyMap<string, number>,
  before: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const deltas = [...after].map(
    ([name, count]) => [name, count - (before.get(name) ?? 0)] as const,
  );
  return new Map(deltas.filter(([, delta]) => delta > 0));
}

async function measure(measured: Case, redis: TestRedis): Promise<void> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const { cost, latencies, requests, commands, tookMs } = await sample(measured, redis);
    if (measured.isWarm && tookMs >= FRESH_MS) continue;
    measured.costs.push(cost);
    measured.latencies.push(...latencies);
    measured.requests += requests;
    for (const [command, count] of commands) {
      measured.commands.set(command, (measured.commands.get(command) ?? 0) + count);
    }
    return;
  }
  throw new Error('this machine is too busy to measure warm requests');
}

/** Milliseconds from the response to a revocation at one gateway to the refusal at the other. */
async function revocationLatency(token: string, at: Subject, elsewhere: Subject): Promise<number> {
  if ((await elsewhere.client.call(token)) !== 200) throw new Error('the token is not accepted');
  await at.client.revoke(token);
  const revoked = performance.now();
  while ((await elsewhere.client.call(token)) !== 401);
  return performance.now() - revoked;
}

function report(cases: readonly Case[]): void {
  const baseline = cases.find(({ name }) => name === BASELINE);
  const baselineCost = percentile(baseline?.costs ?? [], 0.5);
  const baselineLatency = percentile(baseline?.latencies ?? [], 0.5);
  for (const { name, costs, latencies, requests, commands } of cases) {
    const cost = percentile(costs, 0.5);
    const [p50, p99] = [percentile(latencies, 0.5), percentile(latencies, 0.99)];
    const total = [...commands.values()].reduce((sum, count) => sum + count, 0);
    const detail = [...commands].map(([command, count]) => `${command} ${String(count)}`);
    console.log(
      [
        name.padEnd(13),
        `${cost.toFixed(0).padStart(5)} us CPU/request (${(cost / baselineCost).toFixed(2)} x)`,
        `latency p50 ${p50.toFixed(2)} ms (${(p50 / baselineLatency).toFixed(2)} x), p99 ${p99.toFixed(2)} ms`,
        `${(total / requests).toFixed(3)} commands/request of ${String(requests)}`,
        detail.length === 0 ? '' : `(${detail.join(', ')})`,
      ].join('  '),
    );
  }
  console.log(`ratios are to ${BASELINE}`);
}

moveToCore(LOAD_CORE);
await using redis = await startRedis();
const upstream = await start('../forward/upstream.ts', LOAD_CORE, []);
const key = randomBytes(32).toString('hex');
const args = [`http://127.0.0.1:${String(upstream.port)}`, key];
const inMemory = await start('gateway.ts', SUBJECT_CORE, args);
const inRedis = await start('gateway.ts', SUBJECT_CORE, [...args, redis.url]);
const peer = await start('gateway.ts', SUBJECT_CORE, [...args, redis.url]);

const aCase = (name: string, subject: Subject, isWarm: boolean): Case => ({
  ...{ name, subject, isWarm, costs: [], latencies: [] },
  ...{ requests: 0, commands: new Map() },
});
const cases = [
  aCase('memory, warm', inMemory, true),
  aCase('memory, cold', inMemory, false),
  aCase('Redis, warm', inRedis, true),
  aCase('Redis, cold', inRedis, false),
];
const warmUp = cases.map(({ name, subject, isWarm }) => aCase(name, subject, isWarm));
for (const each of warmUp) await measure(each, redis);
for (let round = 0; round < ROUNDS; round += 1) {
  for (const each of cases) await measure(each, redis);
}
report(cases);

const times: number[] = [];
for (const token of inRedis.tokens.slice(0, REVOCATIONS)) {
  times.push(await revocationLatency(token, inRedis, peer));
}
console.log(
  `a revocation takes effect at another gateway ${percentile(times, 0.5).toFixed(1)} ms (p50), ${percentile(times, 0.99).toFixed(1)} ms (p99) after its response`,
);
for (const subject of [upstream, inMemory, inRedis, peer]) {
  await subject.client[Symbol.asyncDispose]();
  subject[Symbol.dispose]();
}
