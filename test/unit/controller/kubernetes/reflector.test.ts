import { beforeEach, describe, expect, it } from '@jest/globals';

import type { KubernetesApi, Scope } from '../../../../controller/kubernetes/kubernetes-api.ts';
import { Reflector, type ReflectorOptions } from '../../../../controller/kubernetes/reflector.ts';
import { REFERENCE_GRANTS, SERVICES } from '../../../../controller/kubernetes/resource-types.ts';
import { monotonicClock } from '../../../../shared/runtime/clock.ts';
import { disposeAfterEach } from '../../../support/dispose-after-each.ts';
import { eventually } from '../../../support/eventually.ts';
import { letTimePass } from '../../../support/let-time-pass.ts';
import { ManualClock, settle } from '../../../support/manual-clock.ts';
import {
  answerStatus,
  QUICK_TIMES,
  ScriptedApiServer,
} from '../../../support/kubernetes/scripted-api-server.ts';
import {
  createRecordingLogger,
  type RecordingLogger,
} from '../../../support/redis/recording-logger.ts';

const ALL = '/api/v1/services';
const APPS = '/api/v1/namespaces/apps/services';
const SECOND = 1000;
const MINUTE = 60 * SECOND;

const keep = disposeAfterEach();

let server: ScriptedApiServer;
let api: KubernetesApi;
let logger: RecordingLogger;
let changes: string[];

beforeEach(async () => {
  ({ server, api } = await ScriptedApiServer.start());
  keep(server);
  logger = createRecordingLogger();
  changes = [];
});

function reflect(
  options: Partial<ReflectorOptions<string>> = {},
  scope: Scope = {},
): Reflector<string> {
  return keep(
    new Reflector({
      api,
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

function paint(name: string, color: string): void {
  server.put(APPS, { metadata: { name, namespace: 'apps', labels: { color } } });
}

/** A reflector with the times of production. */
function reflectWith(clock: ManualClock, options: Partial<ReflectorOptions<string>> = {}) {
  return keep(
    new Reflector({
      api,
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

async function untilWatched(): Promise<void> {
  await eventually('a watch began', () => server.watchesOf(ALL).length > 0);
  await eventually('a watch is open', () => server.watchCount > 0);
}

async function expectReported(...expected: string[]): Promise<void> {
  await eventually(`reported ${expected.join(', ')}`, () => changes.length >= expected.length);
  expect(changes).toEqual(expected);
}

describe('a reflector', () => {
  it('reports the objects that exist, and then every change', async () => {
    paint('a', 'red');
    paint('b', 'blue');
    const reflector = reflect();
    await reflector.synced;
    expect(changes).toEqual(['apps/a: red', 'apps/b: blue']);
    await untilWatched();
    paint('a', 'green');
    server.remove(APPS, 'b');
    await expectReported('apps/a: red', 'apps/b: blue', 'apps/a: green', 'apps/b: gone');
    expect(reflector.get('apps/a')).toBe('green');
    expect([...reflector.keys()]).toEqual(['apps/a']);
    expect(reflector.health).toMatchObject({ resource: 'services', isSynced: true });
  });

  it('reads a long list page by page before it is synced', async () => {
    for (let index = 0; index < 1234; index += 1) paint(`s${String(index)}`, 'red');
    const reflector = reflect();
    await reflector.synced;
    expect(changes).toHaveLength(1234);
    expect(server.listsOf(ALL).map(({ query }) => query.get('limit'))).toEqual([
      '500',
      '500',
      '500',
    ]);
  });

  it('starts a list again when its next page has expired', async () => {
    for (let index = 0; index < 700; index += 1) paint(`s${String(index)}`, 'red');
    let failures = 0;
    server.intercept = ({ query }, response) => {
      if (!query.has('continue') || failures > 0) return false;
      failures += 1;
      server.remove(APPS, 's0');
      answerStatus(response, 410, 'Expired');
      return true;
    };
    await reflect().synced;
    expect(changes).toHaveLength(699);
    expect(logger.records).toEqual([]);
  });

  it('reopens a watch where it ended, without another list', async () => {
    reflect();
    await untilWatched();
    paint('a', 'red');
    await expectReported('apps/a: red');
    server.bookmark();
    server.unseen(() => paint('b', 'blue'));
    server.endWatches();
    await expectReported('apps/a: red', 'apps/b: blue');
    expect(server.listsOf(ALL)).toHaveLength(1);
    // The bookmark was one version on from the first change.
    const [first, second] = server.watchesOf(ALL).map(({ query }) => query.get('resourceVersion'));
    expect(Number(second) - Number(first)).toBe(2);
  });

  it('loses no change when the watch is cut in the middle of a line', async () => {
    reflect();
    await untilWatched();
    server.writeToWatches('{"type":"ADDED","object":{"metadata":{"na');
    server.unseen(() => paint('a', 'red'));
    server.cutWatches();
    await expectReported('apps/a: red');
    expect(server.listsOf(ALL)).toHaveLength(1);
  });

  it('continues after a line that is not a watch event', async () => {
    reflect();
    await untilWatched();
    server.unseen(() => paint('a', 'red'));
    server.writeToWatches('no event\n');
    await expectReported('apps/a: red');
  });

  it.each([
    ['the watch is refused', false],
    ['the watch reports it', true],
  ])(
    'reports only differences after the API server compacted versions, when %s',
    async (_how, inStream) => {
      paint('a', 'red');
      paint('b', 'blue');
      paint('c', 'white');
      const reflector = reflect();
      await reflector.synced;
      await untilWatched();
      server.bookmark();
      server.unseen(() => {
        paint('b', 'green');
        server.remove(APPS, 'c');
        paint('d', 'black');
      });
      server.compact();
      const object = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
      if (inStream) server.writeToWatches(`${JSON.stringify({ type: 'ERROR', object })}\n`);
      else server.endWatches();
      await eventually('the differences are reported', () => changes.length === 6);
      expect(changes.slice(3).sort()).toEqual(['apps/b: green', 'apps/c: gone', 'apps/d: black']);
      expect(server.listsOf(ALL)).toHaveLength(2);
      expect(logger.records).toEqual([]);
    },
  );

  it('lists everything again after a while, and reports what the watch lost', async () => {
    const clock = new ManualClock();
    paint('a', 'red');
    reflectWith(clock, { times: { inactivityMs: 60 * MINUTE, relistMs: 4 * MINUTE } });
    await untilWatched();
    server.unseen(() => paint('b', 'blue'));
    await clock.advance(3 * MINUTE);
    expect(changes).toEqual(['apps/a: red']);
    await letTimePass(clock, 'b is reported', () => changes.length === 2);
    expect(changes).toEqual(['apps/a: red', 'apps/b: blue']);
    expect(server.listsOf(ALL)).toHaveLength(2);
  });

  it('reopens a watch that was silent for 75 seconds', async () => {
    const clock = new ManualClock();
    reflectWith(clock);
    await untilWatched();
    server.silenceWatches();
    paint('a', 'red');
    await clock.advance(74 * SECOND);
    expect(server.watchesOf(ALL)).toHaveLength(1);
    await letTimePass(clock, 'a is reported', () => changes.length === 1);
    expect(server.watchesOf(ALL)).toHaveLength(2);
    expect(logger.records).toEqual([]);
  });

  it('watches one object by its name, even before it exists', async () => {
    paint('a', 'red');
    paint('b', 'blue');
    const there = reflect({}, { namespace: 'apps', name: 'a' });
    const missing = reflect({}, { namespace: 'apps', name: 'c' });
    await Promise.all([there.synced, missing.synced]);
    expect(changes).toEqual(['apps/a: red']);
    await eventually('both are watched', () => server.watchCount === 2);
    paint('c', 'white');
    await expectReported('apps/a: red', 'apps/c: white');
  });

  it('continues after its listener threw', async () => {
    reflect({
      onChange: (key, color) => {
        changes.push(`${key}: ${color ?? 'gone'}`);
        throw new Error('cannot handle it');
      },
    });
    await untilWatched();
    paint('a', 'red');
    paint('a', 'blue');
    await expectReported('apps/a: red', 'apps/a: blue');
    expect(logger.messages('error')).toHaveLength(2);
    expect(server.watchesOf(ALL)).toHaveLength(1);
  });

  it('reports no change and sends no request once it is disposed of', async () => {
    const reflector = reflect();
    await untilWatched();
    await reflector[Symbol.asyncDispose]();
    await eventually('the watch has ended', () => server.watchCount === 0);
    const asked = server.requests.length;
    paint('a', 'red');
    await settle();
    expect(changes).toEqual([]);
    expect(server.requests).toHaveLength(asked);
    expect(logger.records).toEqual([]);
  });
});

describe('a reflector of an API server that fails', () => {
  it('keeps its objects, and logs once that the watch failed and once that it recovered', async () => {
    paint('a', 'red');
    const reflector = reflect();
    await untilWatched();
    server.intercept = (_request, response) => {
      answerStatus(response, 503, 'ServiceUnavailable');
      return true;
    };
    server.cutWatches();
    const asked = server.requests.length;
    await eventually('it tried again', () => server.requests.length >= asked + 3);
    expect(reflector.get('apps/a')).toBe('red');
    expect(reflector.health).toMatchObject({ problem: 'unavailable', isSynced: true });
    expect(reflector.health.lastError).toContain('ServiceUnavailable');
    server.intercept = () => false;
    await eventually('it recovered', () => reflector.health.problem === undefined);
    expect(changes).toEqual(['apps/a: red']);
    expect(server.listsOf(ALL)).toHaveLength(1);
    expect(logger.messages('warn')).toEqual(['kubernetes watch failed']);
    expect(logger.messages('info')).toEqual(['kubernetes watch recovered']);
  });

  it.each([
    ['every list fails', (isWatch: boolean): boolean => !isWatch],
    ['every watch fails', (isWatch: boolean): boolean => isWatch],
  ])('sends at most two requests a second when %s', async (_what, isBad) => {
    server.intercept = ({ isWatch }, response) => {
      if (isBad(isWatch)) answerStatus(response, 400, 'BadRequest');
      return isBad(isWatch);
    };
    await expectPaced();
  });

  it('sends at most two requests a second when every watch ends at once', async () => {
    server.intercept = ({ isWatch }, response) => {
      if (isWatch) response.writeHead(200).end();
      return isWatch;
    };
    const reflector = await expectPaced();
    expect(reflector.health.lastError).toContain('ended at once');
  });

  it('waits as long as the Retry-After header asks', async () => {
    const clock = new ManualClock();
    const times: number[] = [];
    server.intercept = (_request, response) => {
      times.push(clock.now());
      if (times.length > 1) return false;
      response.setHeader('retry-after', '2');
      answerStatus(response, 429, 'TooManyRequests');
      return true;
    };
    const reflector = reflectWith(clock);
    await letTimePass(clock, 'the second request', () => times.length >= 2);
    const [first = 0, second = 0] = times;
    expect(second - first).toBeGreaterThanOrEqual(2 * SECOND);
    await reflector.synced;
  });

  it('keeps its objects when a list is forbidden', async () => {
    paint('a', 'red');
    let isForbidden = false;
    server.intercept = (_request, response) => {
      if (isForbidden) answerStatus(response, 403, 'Forbidden', 'may not list');
      return isForbidden;
    };
    const known = reflect();
    await untilWatched();
    isForbidden = true;
    server.cutWatches();
    const never = reflect();
    await eventually('both are forbidden', () =>
      [known, never].every(({ health }) => health.problem === 'forbidden'),
    );
    expect(known.get('apps/a')).toBe('red');
    expect(never.health).toMatchObject({ isSynced: false, resource: 'services' });
    expect(never.health.lastError).toContain('may not list');
    isForbidden = false;
    await never.synced;
  });

  it('distinguishes credentials that are not accepted from rights that are not granted', async () => {
    let code = 401;
    server.intercept = (_request, response) => {
      answerStatus(response, code, 'Refused');
      return true;
    };
    const reflector = reflect();
    await eventually('it reports the problem', () => reflector.health.problem === 'unauthorized');
    code = 403;
    await eventually('the problem changes', () => reflector.health.problem !== 'unauthorized');
    expect(reflector.health.problem).toBe('forbidden');
  });

  it('does not take a required type that is not installed for an empty one', async () => {
    server.intercept = (_request, response) => {
      answerStatus(response, 404, 'NotFound');
      return true;
    };
    const reflector = reflect();
    await eventually('it reports the problem', () => reflector.health.problem === 'not-installed');
    expect(reflector.health.isSynced).toBe(false);
  });
});

describe('a reflector of an optional type', () => {
  const GRANTS = '/apis/gateway.networking.k8s.io/v1beta1/namespaces/apps/referencegrants';
  let isInstalled: boolean;

  beforeEach(() => {
    isInstalled = false;
    server.intercept = (_request, response) => {
      if (!isInstalled) answerStatus(response, 404, 'NotFound');
      return !isInstalled;
    };
  });

  it('has no objects until the type is installed, and looks for it every minute', async () => {
    const clock = new ManualClock();
    const reflector = reflectWith(clock, { type: REFERENCE_GRANTS, isOptional: true });
    await reflector.synced;
    expect(reflector.health).toMatchObject({ isSynced: true });
    expect(reflector.health.problem).toBeUndefined();
    await letTimePass(clock, 'it looked again', () => server.requests.length > 2);
    expect(logger.messages('info')).toEqual(['kubernetes resource is not installed']);
    isInstalled = true;
    server.put(GRANTS, { metadata: { name: 'a', namespace: 'apps' } });
    await letTimePass(clock, 'a is reported', () => changes.length === 1);
    expect(changes).toEqual(['apps/a: none']);
  });

  it('loses its objects when the type has been missing for a minute', async () => {
    const clock = new ManualClock();
    isInstalled = true;
    server.put(GRANTS, { metadata: { name: 'a', namespace: 'apps' } });
    const reflector = reflectWith(clock, { type: REFERENCE_GRANTS, isOptional: true });
    await reflector.synced;
    await eventually('it is watched', () => server.watchCount === 1);
    isInstalled = false;
    server.cutWatches();
    const isReported = (): boolean => reflector.health.problem === 'not-installed';
    await letTimePass(clock, 'it reports the problem', isReported);
    expect(changes).toEqual(['apps/a: none']);
    await letTimePass(clock, 'a is gone', () => changes.length === 2);
    expect(changes).toEqual(['apps/a: none', 'apps/a: gone']);
  });
});

/** Expects two requests a second of a reflector whose backoff is short. */
async function expectPaced(): Promise<Reflector<string>> {
  const clock = new ManualClock();
  const { intercept } = server;
  const times: number[] = [];
  server.intercept = (...exchange) => {
    times.push(clock.now());
    return intercept(...exchange);
  };
  const reflector = reflectWith(clock, { times: { shortestBackoffMs: 1, longestBackoffMs: 1 } });
  await letTimePass(clock, 'six requests were sent', () => times.length >= 6);
  const gaps = times.slice(2).map((at, index) => at - (times[index] ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(SECOND);
  return reflector;
}
