import { describe, expect, test } from '@jest/globals';

import { KubernetesApiError } from '../../../../controller/kubernetes/kubernetes-api.ts';
import { settingsVerdict, routeVerdict } from '../../../support/verdicts.ts';
import { BAD, makeWorld, MINUTE, PENDING, tell, world } from '../status/status-loop-world.ts';

function refusal(code: number): KubernetesApiError {
  return new KubernetesApiError({ code, reason: 'Some' }, 'refused');
}

describe('the metrics of statuses', () => {
  test('count writes by kind and outcome, and those that wait', async () => {
    const made = await world();
    const { api, clock, metrics, loop, publication } = made;
    const writes = (kind: string, outcome: string) =>
      metrics.value('status_write_duration_seconds_count', { kind, outcome });
    let code = 500;
    api.before = ({ verb }) => {
      if (verb === 'apply-status' && code > 0) throw refusal(code);
    };
    tell(loop);
    await clock.advance(0);
    expect(writes('Route', 'retry')).toBe(1);
    expect(metrics.value('status_writes_pending')).toBe(1);
    code = 0;
    await clock.advance(MINUTE);
    expect(writes('Route', 'ok')).toBe(1);
    expect(metrics.value('status_writes_pending')).toBe(0);
    code = 422;
    loop.reportSettings(settingsVerdict());
    await clock.advance(MINUTE);
    expect(writes('GatewaySettings', 'refused')).toBe(1);
    code = 403;
    publication.everything = PENDING;
    tell(loop, { generation: 2 });
    await clock.advance(1000);
    expect(writes('Route', 'forbidden')).toBe(1);
    expect(metrics.value('status_writes_pending')).toBeGreaterThan(0);
    made.end.abort();
    expect(metrics.value('status_writes_pending')).toBe(0);
  });

  test('count Routes by verdict and problems by reason, in controllers that do not lead too', () => {
    const { metrics, open } = makeWorld();
    const loop = open();
    const route = (name: string, verdict: Parameters<typeof routeVerdict>[0] = {}) =>
      loop.reportRoutes(new Map([[`team-a/${name}`, routeVerdict({ name, ...verdict })]]));
    route('good');
    route('old', { problems: [BAD, BAD], servedGeneration: 1, generation: 2 });
    route('bad', { problems: [BAD] });
    loop.reportRoutes(
      new Map([
        [
          'team-a/later',
          { ...routeVerdict({ name: 'later', problems: [BAD] }), waiting: { hosts: [] } },
        ],
      ]),
    );
    loop.reportSettings(settingsVerdict({ problems: [BAD] }));
    const problems = (kind: string) => metrics.value('problems', { kind, reason: 'InvalidPolicy' });

    expect(metrics.values('routes')).toEqual({
      ...{ accepted: 1, 'last-good': 1, waiting: 1, rejected: 1 },
    });
    expect(problems('Route')).toBe(4);
    expect(problems('GatewaySettings')).toBe(1);
    route('old');
    loop.reportRoutes(new Map([['team-a/bad', undefined]]));
    loop.reportSettings(null);
    expect(metrics.values('routes')).toEqual({
      ...{ accepted: 2, 'last-good': 0, waiting: 1, rejected: 0 },
    });
    expect(problems('Route')).toBe(1);
    expect(problems('GatewaySettings')).toBe(0);
  });
});
