import { describe, expect, it } from '@jest/globals';

import type { RouteVerdict } from '../../../../controller/compile/compilation.ts';
import type { Problem } from '../../../../controller/validate/problem.ts';
import type { RouteStatus } from '../../../../controller/kubernetes/stored-resources.ts';
import { type RouteStatusInput } from '../../../../controller/status/route-status.ts';
import { routeVerdict } from '../../../support/verdicts.ts';
import {
  INVALID_POLICY,
  LATE,
  NOT_ALLOWED,
  NO_PROXIES,
  PENDING,
  REJECTED,
  SECRET_NOT_FOUND,
  conditionsOf,
  messageOf,
  programmedBefore,
  statusOf,
} from './route-status-cases.ts';

describe('the status of a Route that every proxy serves', () => {
  it('reports that it is programmed, with its URL', () => {
    expect(programmedBefore).toMatchObject({
      gatewayClassName: 'gatehouse',
      observedGeneration: 1,
      programmedGeneration: 1,
      configHash: 'hash-1',
      mcpRole: 'server',
      url: 'https://files.example.com',
    });
    expect(conditionsOf(programmedBefore)).toEqual({
      Accepted: ['True', 'Accepted'],
      ResolvedRefs: ['True', 'ResolvedRefs'],
      Programmed: ['True', 'Programmed'],
    });
    for (const condition of programmedBefore.conditions ?? []) {
      expect(condition).toMatchObject({
        observedGeneration: 1,
        lastTransitionTime: '2026-11-21T10:00:00Z',
      });
    }
  });

  it('leaves empty members out', () => {
    const verdict = { ...routeVerdict(), mcpRole: '', url: '' } as const;
    const status = statusOf({ verdict });
    expect(status).not.toHaveProperty('mcpRole');
    expect(status).not.toHaveProperty('url');
    expect(status).not.toHaveProperty('served');
  });

  it('is the same when it is built again', () => {
    expect(statusOf({ current: programmedBefore, now: LATE })).toEqual(programmedBefore);
  });
});

describe('Programmed', () => {
  it.each<[string, Partial<RouteStatusInput>, readonly string[], string]>([
    [
      'is pending before the generation is published',
      { rollout: undefined },
      ['False', 'Pending'],
      'not published',
    ],
    [
      'is pending while proxies load the generation',
      { rollout: PENDING },
      ['False', 'Pending'],
      '2 of 3 proxies',
    ],
    [
      'names the proxy that rejects the generation',
      { rollout: REJECTED },
      ['False', 'Rejected'],
      'proxy-0 rejects',
    ],
    [
      'is unknown while no proxy is connected',
      { rollout: NO_PROXIES },
      ['Unknown', 'NoProxies'],
      'No proxy',
    ],
    [
      'is held back by an obstacle, whatever proxies serve',
      { obstacle: 'the settings are not valid' },
      ['False', 'HeldBack'],
      'Publication is held back: the settings are not valid.',
    ],
  ])('%s', (_, input, expected, message) => {
    const status = statusOf(input);
    expect(conditionsOf(status)['Programmed']).toEqual(expected);
    expect(messageOf(status, 'Programmed')).toContain(message);
  });

  it.each<[string, Partial<RouteStatusInput>]>([
    ['a proxy that connects or leaves', { rollout: PENDING }],
    ['no proxy', { rollout: NO_PROXIES }],
    ['changed content', { verdict: routeVerdict({ hash: 'other' }), rollout: PENDING }],
    ['a new leader', { rollout: undefined }],
    ['an obstacle', { obstacle: 'most routes are gone' }],
  ])('stays true for a generation with %s', (_, input) => {
    const status = statusOf({ current: programmedBefore, now: LATE, ...input });
    expect(conditionsOf(status)['Programmed']).toEqual(['True', 'Programmed']);
    expect(status.programmedGeneration).toBe(1);
  });

  it('becomes false for a new generation, and keeps the programmed one', () => {
    const status = statusOf({
      verdict: routeVerdict({ generation: 2 }),
      rollout: PENDING,
      current: programmedBefore,
      now: LATE,
    });
    expect(conditionsOf(status)['Programmed']).toEqual(['False', 'Pending']);
    expect(status.programmedGeneration).toBe(1);
  });

  it('becomes false when a proxy rejects content of the same generation', () => {
    const status = statusOf({ rollout: REJECTED, current: programmedBefore, now: LATE });
    expect(conditionsOf(status)['Programmed']).toEqual(['False', 'Rejected']);
    expect(status.programmedGeneration).toBe(1);
  });

  it('moves its transition time only with its status', () => {
    const pending = statusOf({ rollout: PENDING });
    const rejected = statusOf({ rollout: REJECTED, current: pending, now: LATE });
    const programmed = statusOf({ current: rejected, now: LATE });
    const times = [pending, rejected, programmed].map(
      ({ conditions }) => conditions?.find(({ type }) => type === 'Programmed')?.lastTransitionTime,
    );
    const [early, late] = ['2026-11-21T10:00:00Z', '2026-11-21T11:00:00Z'];
    expect(times).toEqual([early, early, late]);
  });
});

describe('the status of a Route that is not accepted', () => {
  it('reports each problem with its place, and which generation serves instead', () => {
    const verdict = routeVerdict({
      generation: 3,
      problems: [INVALID_POLICY],
      servedGeneration: 2,
    });
    const status = statusOf({ verdict });
    expect(conditionsOf(status)).toEqual({
      Accepted: ['False', 'InvalidPolicy'],
      ResolvedRefs: ['Unknown', 'Pending'],
      Programmed: ['False', 'Invalid'],
      PartiallyInvalid: ['True', 'ServedGeneration'],
    });
    expect(messageOf(status, 'Accepted')).toBe(
      'spec.policy.allow.or[0]: unknown criterion "emial"',
    );
    expect(messageOf(status, 'PartiallyInvalid')).toBe(
      'Generation 3 is not accepted; generation 2 keeps serving.',
    );
    expect(status.served).toEqual({ generation: 2, spec: { of: 2 } });
    expect(status).toMatchObject({
      observedGeneration: 3,
      programmedGeneration: 2,
      configHash: 'hash-2',
    });
  });

  it('reports that no generation is served', () => {
    const status = statusOf({ verdict: routeVerdict({ problems: [INVALID_POLICY] }) });
    expect(conditionsOf(status)).not.toHaveProperty('PartiallyInvalid');
    expect(messageOf(status, 'Programmed')).toBe(
      'No generation of it is served: spec.policy.allow.or[0]: unknown criterion "emial".',
    );
    expect(status).not.toHaveProperty('configHash');
    expect(status).not.toHaveProperty('programmedGeneration');
  });

  it('is accepted if only a reference has a problem, as in the Gateway API', () => {
    const status = statusOf({ verdict: routeVerdict({ problems: [SECRET_NOT_FOUND] }) });
    expect(conditionsOf(status)).toEqual({
      Accepted: ['True', 'Accepted'],
      ResolvedRefs: ['False', 'SecretNotFound'],
      Programmed: ['False', 'Invalid'],
    });
    expect(messageOf(status, 'Accepted')).toBe(
      'The spec is valid, but a resource that it refers to cannot be used: see ResolvedRefs.',
    );
  });

  it.each<[string, Problem, string]>([
    [
      'its own',
      INVALID_POLICY,
      'Generation 3 is not accepted: spec.policy.allow.or[0]: unknown criterion "emial".',
    ],
    [
      'a reference',
      SECRET_NOT_FOUND,
      'Generation 3 cannot be used now: spec.upstreamOauth2.clientSecretRef: Secret team-a/oauth does not exist.',
    ],
  ])(
    'says first why nothing is published, whatever serves; its problem is %s',
    (_, problem, why) => {
      const obstacle = '0 of 5 routes are left';
      const verdict = routeVerdict({ generation: 3, problems: [problem] });
      const nothing = statusOf({ verdict, obstacle });
      const older = statusOf({
        verdict: { ...routeVerdict({ servedGeneration: 2 }), ...verdict },
        obstacle,
      });
      for (const status of [nothing, older]) {
        expect(messageOf(status, 'Programmed')).toBe(
          `Publication is held back: ${obstacle}. Proxies keep serving the last published configuration. ${why}`,
        );
      }
    },
  );

  it('reports problems of references in ResolvedRefs and all others in Accepted', () => {
    const problems = [SECRET_NOT_FOUND, INVALID_POLICY];
    const status = statusOf({ verdict: routeVerdict({ problems }) });
    expect(conditionsOf(status)).toMatchObject({
      Accepted: ['False', 'InvalidPolicy'],
      ResolvedRefs: ['False', 'SecretNotFound'],
    });
    expect(messageOf(status, 'Accepted')).not.toContain('Secret');
  });

  it('holds no copy of a spec that is the newest', () => {
    const verdict = routeVerdict({
      generation: 2,
      problems: [SECRET_NOT_FOUND],
      servedGeneration: 2,
    });
    const status = statusOf({ verdict });
    expect(status).not.toHaveProperty('served');
    expect(messageOf(status, 'PartiallyInvalid')).toBe(
      'Generation 2 cannot be used now; its last good state keeps serving.',
    );
  });

  it('has messages of limited length', () => {
    const problems = Array.from({ length: 5000 }, (_, index) => ({
      ...INVALID_POLICY,
      message: `${String(index)} ${'x'.repeat(2000)}`,
    }));
    const message = messageOf(statusOf({ verdict: routeVerdict({ problems }) }), 'Accepted');
    expect(message.length).toBeLessThan(1100);
    expect(message).toMatch(/; and 4997 more$/);
  });
});

describe('the status of a Route that the settings do not allow', () => {
  const verdict: RouteVerdict = {
    ...routeVerdict({ generation: 3, problems: [NOT_ALLOWED] }),
    waiting: { hosts: ['files.example.com'], served: { generation: 2, spec: { of: 2 } } },
  };
  const current = statusOf({
    verdict: routeVerdict({ generation: 3, problems: [INVALID_POLICY], servedGeneration: 2 }),
  });

  it('keeps what the next leader needs, and does not report that it is served', () => {
    const status = statusOf({ verdict, current });
    expect(status).toMatchObject({
      url: 'https://files.example.com',
      served: { generation: 2, spec: { of: 2 } },
    });
    expect(conditionsOf(status)).toMatchObject({
      Accepted: ['False', 'NotAllowedByGateway'],
      Programmed: ['False', 'Invalid'],
    });
    expect(conditionsOf(status)).not.toHaveProperty('PartiallyInvalid');
    expect(statusOf({ verdict, current: status, now: LATE })).toEqual(status);
  });

  it.each<[string, RouteVerdict, RouteStatus]>([
    ['it had none', verdict, {}],
    [
      'it is of a host that is not its own any more',
      verdict,
      { ...current, url: 'https://a.example.com' },
    ],
    ['another gateway wrote it', verdict, { ...current, gatewayClassName: 'other' }],
    ['it has given up all', { ...verdict, waiting: { hosts: [] } }, current],
    ['it is refused', routeVerdict({ problems: [INVALID_POLICY] }), current],
  ])('keeps no URL when %s', (_, told, before) => {
    expect(statusOf({ verdict: told, current: before })).not.toHaveProperty('url');
  });
});

describe('the status of a Route that is accepted', () => {
  it('reports references that cannot be resolved', () => {
    const verdict = routeVerdict({ problems: [SECRET_NOT_FOUND], isAccepted: true });
    expect(conditionsOf(statusOf({ verdict }))).toEqual({
      Accepted: ['True', 'Accepted'],
      ResolvedRefs: ['False', 'SecretNotFound'],
      Programmed: ['True', 'Programmed'],
    });
  });
});
