import { describe, expect, it } from '@jest/globals';

import { eventually } from '../../../support/eventually.ts';
import { letTimePass } from '../../../support/let-time-pass.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { answerStatus } from '../../../support/kubernetes/scripted-api-server.ts';
import { ReadableControllerMetrics } from '../../../support/metrics/readable-controller-metrics.ts';
import {
  ALL,
  SECOND,
  changes,
  expectPaced,
  logger,
  paint,
  reflect,
  reflectWith,
  server,
  untilWatched,
} from './reflector-world.ts';

describe('a reflector of an API server that fails', () => {
  it('keeps its objects, and logs once that the watch failed and once that it recovered', async () => {
    paint('a', 'red');
    const metrics = new ReadableControllerMetrics();
    const reflector = reflect({ metrics: metrics.watches });
    await untilWatched();
    server.intercept = (_request, response) => {
      answerStatus(response, 503, 'ServiceUnavailable');
      return true;
    };
    server.cutWatches();
    const asked = server.requests.length;
    await eventually('it tried again', () => server.requests.length > asked);
    const { activeAt = 0 } = reflector.health;
    expect(Date.now() - activeAt).toBeLessThan(60 * SECOND);
    await eventually('it tried twice more', () => server.requests.length >= asked + 3);
    expect(reflector.get('apps/a')).toBe('red');
    expect(reflector.health).toMatchObject({ problem: 'unavailable', isSynced: true });
    expect(reflector.health.lastError).toContain('ServiceUnavailable');
    expect(metrics.values('watch_restarts_total')['services failed']).toBeGreaterThan(1);
    expect(reflector.health.activeAt).toBe(activeAt);
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
    expect(Math.round(second - first)).toBeGreaterThanOrEqual(2 * SECOND);
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
