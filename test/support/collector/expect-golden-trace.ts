import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

import { expect } from '@jest/globals';

import { eventually } from '../eventually.ts';
import type { Collector } from './collector.ts';
import { describeTrace } from './describe-trace.ts';

/** How long `make golden` waits for the last spans of a trace. */
const SETTLED_MS = 3_000;

/** Waits until a trace is as a golden file has it. Only `make golden` rewrites the file; review its diff. */
export async function expectGoldenTrace(
  collector: Collector,
  traceId: string,
  file: URL,
): Promise<void> {
  const described = (): string => describeTrace(collector.spans, traceId);
  if (process.env['UPDATE_GOLDEN'] === '1') {
    await wait(SETTLED_MS);
    writeFileSync(file, described());
  }
  const golden = readFileSync(file, 'utf8');
  // The comparison that follows says what is different.
  await eventually('the trace is whole', () => described() === golden).catch(() => undefined);
  expect(described()).toBe(golden);
}
