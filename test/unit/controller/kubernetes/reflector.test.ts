import { beforeEach, describe, expect, it } from '@jest/globals';

import { REFERENCE_GRANTS } from '../../../../controller/kubernetes/resource-types.ts';
import { eventually } from '../../../support/eventually.ts';
import { letTimePass } from '../../../support/let-time-pass.ts';
import { ManualClock, settle } from '../../../support/manual-clock.ts';
import { answerStatus } from '../../../support/kubernetes/scripted-api-server.ts';
import { ReadableControllerMetrics } from '../../../support/metrics/readable-controller-metrics.ts';
import {
  ALL,
  APPS,
  MINUTE,
  SECOND,
  changes,
  expectReported,
  logger,
  paint,
  reflect,
  reflectWith,
  server,
  untilWatched,
} from './reflector-world.ts';

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
    const metrics = new ReadableControllerMetrics();
    paint('a', 'red');
    const times = { inactivityMs: 60 * MINUTE, relistMs: 4 * MINUTE };
    reflectWith(clock, { times, metrics: metrics.watches });
    await untilWatched();
    server.unseen(() => paint('b', 'blue'));
    await clock.advance(3 * MINUTE);
    expect(changes).toEqual(['apps/a: red']);
    await letTimePass(clock, 'b is reported', () => changes.length === 2, SECOND);
    expect(changes).toEqual(['apps/a: red', 'apps/b: blue']);
    expect(server.listsOf(ALL)).toHaveLength(2);
    expect(metrics.values('watch_restarts_total')).toEqual({ 'services ended': 1 });
  });

  it('reopens a watch that was silent for 75 seconds', async () => {
    const clock = new ManualClock();
    reflectWith(clock);
    await untilWatched();
    server.silenceWatches();
    paint('a', 'red');
    await clock.advance(74 * SECOND);
    expect(server.watchesOf(ALL)).toHaveLength(1);
    await letTimePass(clock, 'a is reported', () => changes.length === 1, SECOND);
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
    await letTimePass(clock, 'it looked again', () => server.requests.length > 2, SECOND);
    expect(logger.messages('info')).toEqual(['kubernetes resource is not installed']);
    isInstalled = true;
    server.put(GRANTS, { metadata: { name: 'a', namespace: 'apps' } });
    await letTimePass(clock, 'a is reported', () => changes.length === 1, SECOND);
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
    await letTimePass(clock, 'a is gone', () => changes.length === 2, SECOND);
    expect(changes).toEqual(['apps/a: none', 'apps/a: gone']);
  });
});
