/**
 * Loaded into a measured program before it starts (`--import`). Profiles it while its parent says so: the
 * parent sends the name of a profile to begin it, and the same name again to end it and to receive it.
 */
import type { HeapProfiler } from 'node:inspector';
import { Session } from 'node:inspector/promises';

import type { ProfileNode, Profiles } from './profile-session.ts';

/** Microseconds between two samples of the stack. */
const CPU_INTERVAL = 100;
/** Bytes between two samples of allocations, on average. */
const HEAP_INTERVAL = 4096;

const session = new Session();
session.connect();
let running: keyof Profiles | undefined;

async function begin(kind: keyof Profiles): Promise<void> {
  if (kind === 'cpu') {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: CPU_INTERVAL });
    await session.post('Profiler.start');
    return;
  }
  await session.post('HeapProfiler.startSampling', {
    samplingInterval: HEAP_INTERVAL,
    // What was allocated, and not what is left of it.
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  });
}

async function end(kind: keyof Profiles): Promise<readonly ProfileNode[]> {
  if (kind === 'cpu') {
    const { profile } = await session.post('Profiler.stop');
    const times = new Map<number, number>();
    const { samples = [], timeDeltas = [] } = profile;
    for (const [index, id] of samples.entries()) {
      times.set(id, (times.get(id) ?? 0) + (timeDeltas[index] ?? 0));
    }
    return profile.nodes.map(({ id, callFrame, children = [] }) => ({
      ...{ id, children, name: callFrame.functionName, url: callFrame.url },
      self: times.get(id) ?? 0,
    }));
  }
  const { profile } = await session.post('HeapProfiler.stopSampling');
  const nodes: ProfileNode[] = [];
  addHeapNode(profile.head, nodes);
  return nodes;
}

/** Adds a node and all below it, and returns its id. */
function addHeapNode(
  { callFrame, selfSize, children }: HeapProfiler.SamplingHeapProfileNode,
  nodes: ProfileNode[],
): number {
  const ids = children.map((child) => addHeapNode(child, nodes));
  const { functionName: name, url } = callFrame;
  const id = nodes.length;
  nodes.push({ id, name, url, self: selfSize, children: ids });
  return id;
}

process.on('message', (kind: keyof Profiles) => {
  const isEnd = running === kind;
  running = isEnd ? undefined : kind;
  const done = isEnd ? end(kind) : begin(kind);
  void done.then((answer) => process.send?.(answer ?? []));
});
