import type { HttpLoad } from '../support/http-load.ts';
import { countInstructions, type Instructions } from '../support/instructions.ts';
import { cpuOfTree } from '../support/process-cpu.ts';
import type { Subject } from './bench-world.ts';
import { openLoad } from './load.ts';
import { TOKEN_COUNT } from './workload.ts';

const CONNECTIONS = 32;
/**
 * Requests before a round. Every token is used, so that the gateway has checked it within its last five
 * seconds, and V8 has optimized again what it gave up while other subjects were measured.
 */
const WARM_UP = 5 * TOKEN_COUNT;
const COUNTED_REQUESTS = 20_000;
const MICROSECONDS_PER_MILLISECOND = 1000;

/** What a round measured. */
export interface RoundCost {
  /** CPU microseconds of the subject for each request. */
  readonly cost: number;
  /** The part of the time in which the subject used its core. */
  readonly busy: number;
}

/** Measures requests whose token is warm, for about `roundMs`. */
export async function measureWarm(subject: Subject, roundMs: number): Promise<RoundCost> {
  using stack = new DisposableStack();
  stack.use(subject.disturb?.());
  const load = stack.use(await openLoad({ ...subject, connections: CONNECTIONS }));
  const start = performance.now();
  await warm(load);
  const perMillisecond = WARM_UP / (performance.now() - start);
  return await measure(subject, load, Math.ceil(perMillisecond * roundMs));
}

/** Measures the first requests after a pause: connections are new, and tokens must be checked again. */
export async function measureCold(subject: Subject, requests: number): Promise<RoundCost> {
  using load = await openLoad({ ...subject, connections: CONNECTIONS });
  return await measure(subject, load, requests);
}

/** Returns the instructions of one warm request. */
export async function instructionsPerRequest(subject: Subject): Promise<Instructions> {
  using stack = new DisposableStack();
  stack.use(subject.disturb?.());
  const load = stack.use(await openLoad({ ...subject, connections: CONNECTIONS }));
  await warm(load);
  const counted = await countInstructions(subject.pid, () => load.send(COUNTED_REQUESTS));
  return {
    user: counted.user / COUNTED_REQUESTS,
    kernel: counted.kernel / COUNTED_REQUESTS,
    cycles: counted.cycles / COUNTED_REQUESTS,
  };
}

/** Sends requests until every token is warm. */
export function warm(load: HttpLoad): Promise<void> {
  return load.send(WARM_UP);
}

async function measure(subject: Subject, load: HttpLoad, requests: number): Promise<RoundCost> {
  const start = performance.now();
  const before = cpuOfTree(subject.pid);
  await load.send(requests);
  const used = cpuOfTree(subject.pid) - before;
  const elapsed = (performance.now() - start) * MICROSECONDS_PER_MILLISECOND;
  return { cost: used / requests, busy: used / elapsed };
}
