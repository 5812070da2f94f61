import { beforeEach, describe, expect, it } from '@jest/globals';

import type { KubernetesApi, Scope } from '../../../../controller/kubernetes/kubernetes-api.ts';
import { Reflector, type ReflectorOptions } from '../../../../controller/kubernetes/reflector.ts';
import { REFERENCE_GRANTS, SERVICES } from '../../../../controller/kubernetes/resource-types.ts';
import { disposeAfterEach } from '../../../support/dispose-after-each.ts';
import { eventually } from '../../../support/eventually.ts';
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

async function watched(count = 1): Promise<void> {
  await eventually(`watch ${String(count)}`, () => server.watchesOf(ALL).length >= count);
  await eventually('a watch under way', () => server.watchCount > 0);
}

async function expectTold(...expected: string[]): Promise<void> {
  await eventually(`told of ${expected.join(', ')}`, () => changes.length >= expected.length);
  expect(changes).toEqual(expected);
}

describe('following objects', () => {
  it('tells of those there are, and then of every change', async () => {
    paint('a', 'red');
    paint('b', 'blue');
    const reflector = reflect();
    await reflector.synced;
    expect(changes).toEqual(['apps/a: red', 'apps/b: blue']);
    await watched();
    paint('a', 'green');
    server.remove(APPS, 'b');
    await expectTold('apps/a: red', 'apps/b: blue', 'apps/a: green', 'apps/b: gone');
    expect(reflector.get('apps/a')).toBe('green');
    expect([...reflector.keys()]).toEqual(['apps/a']);
    expect(reflector.health).toMatchObject({ resource: 'services', isSynced: true });
  });

  it('reads a long list page by page, before it is synced', async () => {
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

  it('begins a list anew whose next page is gone', async () => {
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

  it('goes on with the watch where it ended, without a list', async () => {
    reflect();
    await watched();
    paint('a', 'red');
    await expectTold('apps/a: red');
    server.bookmark();
    server.unseen(() => paint('b', 'blue'));
    server.endWatches();
    await expectTold('apps/a: red', 'apps/b: blue');
    expect(server.listsOf(ALL)).toHaveLength(1);
    // The bookmark was one version on from the first change.
    const [first, second] = server.watchesOf(ALL).map(({ query }) => query.get('resourceVersion'));
    expect(Number(second) - Number(first)).toBe(2);
  });

  it('loses nothing when the watch is cut in the middle of a line', async () => {
    reflect();
    await watched();
    server.writeToWatches('{"type":"ADDED","object":{"metadata":{"na');
    server.unseen(() => paint('a', 'red'));
    server.cutWatches();
    await expectTold('apps/a: red');
    expect(server.listsOf(ALL)).toHaveLength(1);
  });

  it('goes on after a line that is no event', async () => {
    reflect();
    await watched();
    server.unseen(() => paint('a', 'red'));
    server.writeToWatches('no event\n');
    await expectTold('apps/a: red');
  });

  it.each([
    ['the watch is refused', false],
    ['the watch is told so', true],
  ])(
    'tells only differences after versions were compacted away, when %s',
    async (_how, inStream) => {
      paint('a', 'red');
      paint('b', 'blue');
      paint('c', 'white');
      const reflector = reflect();
      await reflector.synced;
      await watched();
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
      await eventually('the difference', () => changes.length === 6);
      expect(changes.slice(3).sort()).toEqual(['apps/b: green', 'apps/c: gone', 'apps/d: black']);
      expect(server.listsOf(ALL)).toHaveLength(2);
      expect(logger.records).toEqual([]);
    },
  );

  it('lists everything again after a while, and tells what the watch had not', async () => {
    paint('a', 'red');
    reflect({ times: { relistMs: 300 } });
    await watched();
    server.unseen(() => paint('b', 'blue'));
    await expectTold('apps/a: red', 'apps/b: blue');
    await eventually('some lists', () => server.listsOf(ALL).length >= 4);
    expect(changes).toEqual(['apps/a: red', 'apps/b: blue']);
  });

  it('opens a watch anew that is silent for too long', async () => {
    reflect({ times: { inactivityMs: 300 } });
    await watched();
    server.silenceWatches();
    paint('a', 'red');
    await expectTold('apps/a: red');
    expect(logger.records).toEqual([]);
  });

  it('follows one object by its name, and one that is not there', async () => {
    paint('a', 'red');
    paint('b', 'blue');
    const there = reflect({}, { namespace: 'apps', name: 'a' });
    const missing = reflect({}, { namespace: 'apps', name: 'c' });
    await Promise.all([there.synced, missing.synced]);
    expect(changes).toEqual(['apps/a: red']);
    await eventually('two watches', () => server.watchCount === 2);
    paint('c', 'white');
    await expectTold('apps/a: red', 'apps/c: white');
  });

  it('does not mind what whoever is told throws', async () => {
    reflect({
      onChange: (key, color) => {
        changes.push(`${key}: ${color ?? 'gone'}`);
        throw new Error('cannot handle it');
      },
    });
    await watched();
    paint('a', 'red');
    paint('a', 'blue');
    await expectTold('apps/a: red', 'apps/a: blue');
    expect(logger.messages('error')).toHaveLength(2);
    expect(server.watchesOf(ALL)).toHaveLength(1);
  });

  it('tells nothing and asks nothing once it is disposed of', async () => {
    const reflector = reflect();
    await watched();
    await reflector[Symbol.asyncDispose]();
    await eventually('the watch is over', () => server.watchCount === 0);
    const asked = server.requests.length;
    paint('a', 'red');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(changes).toEqual([]);
    expect(server.requests).toHaveLength(asked);
    expect(logger.records).toEqual([]);
  });
});

describe('when the API server is in trouble', () => {
  it('keeps what is known, and says once that it is lost and once that it is back', async () => {
    paint('a', 'red');
    const reflector = reflect();
    await watched();
    server.intercept = (_request, response) => {
      answerStatus(response, 503, 'ServiceUnavailable');
      return true;
    };
    server.cutWatches();
    const asked = server.requests.length;
    await eventually('some attempts', () => server.requests.length >= asked + 3);
    expect(reflector.get('apps/a')).toBe('red');
    expect(reflector.health).toMatchObject({ problem: 'unavailable', isSynced: true });
    expect(reflector.health.lastError).toContain('ServiceUnavailable');
    server.intercept = () => false;
    await eventually('it is back', () => reflector.health.problem === undefined);
    expect(changes).toEqual(['apps/a: red']);
    expect(server.listsOf(ALL)).toHaveLength(1);
    expect(logger.messages('warn')).toEqual(['kubernetes watch fails']);
    expect(logger.messages('info')).toEqual(['kubernetes watch works again']);
  });

  it.each([
    ['every list fails', (isWatch: boolean): boolean => !isWatch],
    ['every watch fails', (isWatch: boolean): boolean => isWatch],
  ])('asks twice in a second at most, when %s', async (_what, isBad) => {
    server.intercept = ({ isWatch }, response) => {
      if (isBad(isWatch)) answerStatus(response, 400, 'BadRequest');
      return isBad(isWatch);
    };
    reflect({ times: { paceMs: SECOND } });
    await eventually('six requests', () => server.requests.length >= 6);
    expectPaced();
  });

  it('asks twice in a second at most, when every watch ends at once', async () => {
    server.intercept = ({ isWatch }, response) => {
      if (isWatch) response.writeHead(200).end();
      return isWatch;
    };
    const reflector = reflect({ times: { paceMs: SECOND } });
    await eventually('six requests', () => server.requests.length >= 6);
    expectPaced();
    expect(reflector.health.lastError).toContain('ended at once');
  });

  it('waits as long as it is asked to', async () => {
    let refusedAt: number | undefined;
    server.intercept = ({ at }, response) => {
      if (refusedAt !== undefined) return false;
      refusedAt = at;
      response.setHeader('retry-after', '2');
      answerStatus(response, 429, 'TooManyRequests');
      return true;
    };
    await reflect().synced;
    expect((server.requests[1]?.at ?? 0) - (refusedAt ?? 0)).toBeGreaterThanOrEqual(2 * SECOND);
  });

  it('takes a list that it may not read for no list', async () => {
    paint('a', 'red');
    let isForbidden = false;
    server.intercept = (_request, response) => {
      if (isForbidden) answerStatus(response, 403, 'Forbidden', 'may not list');
      return isForbidden;
    };
    const known = reflect();
    await watched();
    isForbidden = true;
    server.cutWatches();
    const never = reflect();
    await eventually('both are refused', () =>
      [known, never].every(({ health }) => health.problem === 'forbidden'),
    );
    expect(known.get('apps/a')).toBe('red');
    expect(never.health).toMatchObject({ isSynced: false, resource: 'services' });
    expect(never.health.lastError).toContain('may not list');
    isForbidden = false;
    await never.synced;
  });

  it('tells credentials that are not taken from rights that are not granted', async () => {
    let code = 401;
    server.intercept = (_request, response) => {
      answerStatus(response, code, 'Refused');
      return true;
    };
    const reflector = reflect();
    await eventually('it is told', () => reflector.health.problem === 'unauthorized');
    code = 403;
    await eventually('the other', () => reflector.health.problem !== 'unauthorized');
    expect(reflector.health.problem).toBe('forbidden');
  });

  it('does not take a type for empty that has to be installed and is not', async () => {
    server.intercept = (_request, response) => {
      answerStatus(response, 404, 'NotFound');
      return true;
    };
    const reflector = reflect();
    await eventually('it is told', () => reflector.health.problem === 'not-installed');
    expect(reflector.health.isSynced).toBe(false);
  });
});

describe('a type that need not be installed', () => {
  const GRANTS = '/apis/gateway.networking.k8s.io/v1beta1/namespaces/apps/referencegrants';
  let isInstalled: boolean;

  beforeEach(() => {
    isInstalled = false;
    server.intercept = (_request, response) => {
      if (!isInstalled) answerStatus(response, 404, 'NotFound');
      return !isInstalled;
    };
  });

  const reflectGrants = (notInstalledMs: number): Reflector<string> =>
    reflect({ type: REFERENCE_GRANTS, isOptional: true, times: { notInstalledMs } });

  it('has no objects until it is, and is looked for again', async () => {
    const reflector = reflectGrants(50);
    await reflector.synced;
    expect(reflector.health).toMatchObject({ isSynced: true });
    expect(reflector.health.problem).toBeUndefined();
    await eventually('some looks', () => server.requests.length > 2);
    expect(logger.messages('info')).toEqual(['kubernetes resource is not installed']);
    isInstalled = true;
    server.put(GRANTS, { metadata: { name: 'a', namespace: 'apps' } });
    await expectTold('apps/a: none');
  });

  it('loses its objects when it goes, but not at once', async () => {
    isInstalled = true;
    server.put(GRANTS, { metadata: { name: 'a', namespace: 'apps' } });
    const reflector = reflectGrants(1500);
    await reflector.synced;
    await eventually('a watch', () => server.watchCount === 1);
    isInstalled = false;
    server.cutWatches();
    await eventually('it is told', () => reflector.health.problem === 'not-installed');
    expect(changes).toEqual(['apps/a: none']);
    await expectTold('apps/a: none', 'apps/a: gone');
  });
});

function expectPaced(): void {
  const times = server.requests.map(({ at }) => at);
  const gaps = times.slice(2).map((at, index) => at - (times[index] ?? 0));
  // What the way to the server takes is not the same each time.
  expect(Math.min(...gaps)).toBeGreaterThan(0.9 * SECOND);
}
