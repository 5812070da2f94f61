import { once } from 'node:events';

import type { BenchProgram } from '../support/bench-program.ts';
import { median } from '../support/percentile.ts';
import { cpuOfTree } from '../support/process-cpu.ts';
import { EventClients } from './event-clients.ts';
import type { MemoryReport } from './memory-probe.ts';
import type { StreamsWorld } from './streams-world.ts';
import { STREAMS, type Broadcast } from './workload.ts';

const ROUNDS = 7;
const EVENTS_PER_ROUND = 10;
const KIBIBYTE = 1024;

/** A proxy with open event streams. */
interface Subject {
  readonly pid: number;
  readonly port: number;
  /** The upstream sends an event to the streams of one path. */
  readonly path: string;
  readonly clients: EventClients;
  /** CPU microseconds for each event of a stream, one value a round. */
  readonly costs: number[];
}

/** Measures and prints what open event streams cost, in memory and for each event. */
export async function measureStreams(world: StreamsWorld): Promise<void> {
  const { upstream, nginx } = world;
  const gateway = await world.startGateway('mcp');
  const before = await memoryOf(gateway);
  const ours = await openStreams(gateway, '/mcp', gateway.tokens);
  const theirs = nginx && (await openStreams(nginx, '/nginx', ['none']));
  const subjects = theirs === undefined ? [ours] : [ours, theirs];
  for (const subject of subjects) await sendEvents(upstream, subject);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const subject of subjects) {
      const start = cpuOfTree(subject.pid);
      await sendEvents(upstream, subject);
      subject.costs.push((cpuOfTree(subject.pid) - start) / EVENTS_PER_ROUND / STREAMS);
    }
  }
  const after = await memoryOf(gateway);
  for (const { clients } of subjects) {
    clients.check((ROUNDS + 1) * EVENTS_PER_ROUND);
    clients[Symbol.dispose]();
  }
  printMemory(before, after);
  printCosts(ours, theirs);
}

async function openStreams(
  { pid, port }: { readonly pid: number; readonly port: number },
  path: string,
  tokens: readonly string[],
): Promise<Subject> {
  const clients = new EventClients();
  const requests = Array.from({ length: STREAMS }, (_each, at) =>
    [
      `GET ${path} HTTP/1.1`,
      `Host: localhost:${String(port)}`,
      'Accept: text/event-stream',
      'MCP-Protocol-Version: 2025-11-25',
      `Authorization: Bearer ${tokens[at % tokens.length] ?? ''}`,
      '\r\n',
    ].join('\r\n'),
  );
  await clients.open(port, requests);
  return { pid, port, path, clients, costs: [] };
}

/** Sends events to all streams; each when all of them have got the one before. */
async function sendEvents(upstream: BenchProgram, { path, clients }: Subject): Promise<void> {
  for (let event = 0; event < EVENTS_PER_ROUND; event += 1) {
    await clients.receive((number) => {
      upstream.process.send({ path, number } satisfies Broadcast);
    });
  }
}

async function memoryOf({ process: child }: BenchProgram): Promise<MemoryReport> {
  const answer = once(child, 'message');
  child.send('memory');
  // The only message of the probe.
  const [report] = (await answer) as [MemoryReport];
  return report;
}

function printMemory(before: MemoryReport, after: MemoryReport): void {
  const perStream = (key: keyof MemoryReport): string =>
    ((after[key] - before[key]) / STREAMS / KIBIBYTE).toFixed(1);
  console.log(`\n${String(STREAMS)} event streams; no event was lost`);
  console.log(`  resident memory     ${perStream('resident')} KiB a stream, promised at most 60`);
  console.log(`  after a forced GC   ${perStream('residentAfterGc')} KiB a stream`);
  console.log(`  heap after that GC  ${perStream('heapAfterGc')} KiB a stream`);
}

function printCosts(ours: Subject, theirs: Subject | undefined): void {
  console.log(`  an event of 200 bytes: ${median(ours.costs).toFixed(1)} us of CPU`);
  if (theirs === undefined) return;
  const ratios = ours.costs.map((cost, round) => cost / (theirs.costs[round] ?? NaN));
  const rounds = ratios.map((ratio) => ratio.toFixed(2)).join(' ');
  console.log(`  ${median(ratios).toFixed(2)} x nginx, promised at most 2 (rounds: ${rounds})`);
}
