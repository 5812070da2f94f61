import { beforeEach, expect } from '@jest/globals';

import type { KubernetesApi, Scope } from '../../../../controller/kubernetes/kubernetes-api.ts';
import { Reflector, type ReflectorOptions } from '../../../../controller/kubernetes/reflector.ts';
import { SERVICES } from '../../../../controller/kubernetes/resource-types.ts';
import { monotonicClock } from '../../../../shared/runtime/clock.ts';
import { disposeAfterEach } from '../../../support/dispose-after-each.ts';
import { eventually } from '../../../support/eventually.ts';
import { letTimePass } from '../../../support/let-time-pass.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { QUICK_TIMES, ScriptedApiServer } from '../../../support/kubernetes/scripted-api-server.ts';
import {
  createRecordingLogger,
  type RecordingLogger,
} from '../../../support/redis/recording-logger.ts';
import { ReadableControllerMetrics } from '../../../support/metrics/readable-controller-metrics.ts';

export const ALL = '/api/v1/services';
export const APPS = '/api/v1/namespaces/apps/services';
export const SECOND = 1000;
export const MINUTE = 60 * SECOND;

const keep = disposeAfterEach();

/** The API server of each test. */
export let server: ScriptedApiServer;
let api: KubernetesApi;
/** Records what the reflectors log. */
export let logger: RecordingLogger;
/** The changes that the reflectors reported, as `key: color`. */
export let changes: string[];

beforeEach(async () => {
  ({ server, api } = await ScriptedApiServer.start());
  keep(server);
  logger = createRecordingLogger();
  changes = [];
});

/** Starts a reflector with short times, which ends with the test. */
export function reflect(
  options: Partial<ReflectorOptions<string>> = {},
  scope: Scope = {},
): Reflector<string> {
  return keep(
    new Reflector({
      api,
      metrics: new ReadableControllerMetrics().watches,
      logger,
      clock: monotonicClock,
      type: SERVICES,
      scope,
      parse: ({ metadata }) => metadata.labels?.['color'] ?? 'none',
      onChange: (key, color) => changes.push(`${key}: ${color ?? 'gone'}`),
      ...options,
      times: { ...QUICK_TIMES, ...options.times },
    }),
  );
}

/** Creates or replaces a Service of a color. */
export function paint(name: string, color: string): void {
  server.put(APPS, { metadata: { name, namespace: 'apps', labels: { color } } });
}

/** A reflector with the times of production. */
export function reflectWith(clock: ManualClock, options: Partial<ReflectorOptions<string>> = {}) {
  return keep(
    new Reflector({
      api,
      metrics: new ReadableControllerMetrics().watches,
      logger,
      clock,
      type: SERVICES,
      scope: {},
      parse: ({ metadata }) => metadata.labels?.['color'] ?? 'none',
      onChange: (key, color) => changes.push(`${key}: ${color ?? 'gone'}`),
      ...options,
    }),
  );
}

/** Waits until a watch of all Services is open. */
export async function untilWatched(): Promise<void> {
  await eventually('a watch began', () => server.watchesOf(ALL).length > 0);
  await eventually('a watch is open', () => server.watchCount > 0);
}

/** Waits for these changes, and expects no others. */
export async function expectReported(...expected: string[]): Promise<void> {
  await eventually(`reported ${expected.join(', ')}`, () => changes.length >= expected.length);
  expect(changes).toEqual(expected);
}

/** Expects two requests a second of a reflector whose backoff is short. */
export async function expectPaced(): Promise<Reflector<string>> {
  const clock = new ManualClock();
  const times: number[] = [];
  const timed: KubernetesApi = {
    ...api,
    list: (...request) => {
      times.push(clock.now());
      return api.list(...request);
    },
    watch: (...request) => {
      times.push(clock.now());
      return api.watch(...request);
    },
  };
  const reflector = reflectWith(clock, {
    api: timed,
    times: { shortestBackoffMs: 1, longestBackoffMs: 1 },
  });
  await letTimePass(clock, 'six requests were sent', () => times.length >= 6);
  const gaps = times.slice(2).map((at, index) => at - (times[index] ?? 0));
  // The backoff is random, so times have fractions that do not add up exactly.
  expect(Math.round(Math.min(...gaps))).toBeGreaterThanOrEqual(SECOND);
  return reflector;
}
