import { describe, expect, it } from '@jest/globals';

import type { SettingsStatus } from '../../../../controller/kubernetes/stored-resources.ts';
import type { ProxyReport, RolloutState } from '../../../../controller/push/publication.ts';
import { compareStatus } from '../../../../controller/status/compare-status.ts';
import { reportGateway } from '../../../../controller/status/gateway-report.ts';
import {
  settingsStatus,
  type SettingsStatusInput,
} from '../../../../controller/status/settings-status.ts';
import { settingsVerdict } from '../../../support/verdicts.ts';

const NOW = new Date('2026-11-21T10:00:00Z');
const POSITION = { epoch: 7, sequence: 42 };
const PROXY: ProxyReport = {
  id: 'proxy-0',
  isConnected: true,
  isReady: true,
  isDraining: false,
  position: POSITION,
  lagMs: 0,
  isSynced: true,
  rejected: [],
};
const PUBLICATION = {
  position: POSITION,
  version: 'abc',
  publishedAt: NOW.getTime(),
  proxies: [PROXY],
};

function gatewayOf(change: Partial<Parameters<typeof reportGateway>[0]> = {}) {
  return reportGateway({
    service: undefined,
    publication: PUBLICATION,
    attachedRoutes: 3,
    ...change,
  });
}

function statusOf(input: Partial<SettingsStatusInput> = {}): SettingsStatus {
  return settingsStatus({
    verdict: settingsVerdict(),
    gateway: gatewayOf(),
    rollout: { kind: 'programmed' },
    obstacle: undefined,
    current: undefined,
    now: NOW,
    ...input,
  });
}

function programmedOf({ conditions }: SettingsStatus): readonly unknown[] {
  const condition = conditions?.find(({ type }) => type === 'Programmed');
  return [condition?.status, condition?.reason];
}

describe('the status of GatewaySettings', () => {
  it('counts proxies and routes, and names the snapshot', () => {
    const refusal = { key: 'route/a/b', reason: 'InvalidResource', message: 'no' } as const;
    const proxies: readonly ProxyReport[] = [
      PROXY,
      { ...PROXY, isReady: false, isSynced: false },
      { ...PROXY, isDraining: true, rejected: [refusal] },
      { ...PROXY, isConnected: false },
    ];
    const gateway = gatewayOf({ publication: { ...PUBLICATION, proxies } });
    expect(statusOf({ gateway })).toMatchObject({
      observedGeneration: 1,
      attachedRoutes: 3,
      proxies: { connected: 3, ready: 1, synced: 2, rejected: 1 },
      snapshot: { revision: '7.42', hash: 'abc', time: '2026-11-21T10:00:00Z' },
    });
  });

  it('has the addresses of the load balancer, if there is one', () => {
    const service = {
      metadata: { name: 'proxy' },
      status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }, { hostname: 'lb.example.com' }] } },
    };
    expect(statusOf({ gateway: gatewayOf({ service }) }).addresses).toEqual([
      { type: 'IPAddress', value: '192.0.2.1' },
      { type: 'Hostname', value: 'lb.example.com' },
    ]);
    expect(statusOf()).not.toHaveProperty('addresses');
    const pending = { metadata: { name: 'proxy' }, status: { loadBalancer: {} } };
    expect(statusOf({ gateway: gatewayOf({ service: pending }) })).not.toHaveProperty('addresses');
  });

  it('is accepted and programmed without tracing, and says why there is none', () => {
    const path = 'spec.tracing.endpoint';
    const problems = [{ path, reason: 'TracingNotUsable', message: 'is required' } as const];
    const { conditions } = statusOf({ verdict: settingsVerdict({ problems, isAccepted: true }) });
    expect(conditions).toMatchObject([
      { type: 'Accepted', status: 'True' },
      {
        type: 'ResolvedRefs',
        status: 'False',
        reason: 'TracingNotUsable',
        message: 'spec.tracing.endpoint: is required',
      },
      { type: 'Programmed', status: 'True' },
    ]);
  });

  it('has no snapshot before the first publication', () => {
    const publication = { ...PUBLICATION, publishedAt: undefined };
    expect(statusOf({ gateway: gatewayOf({ publication }) })).not.toHaveProperty('snapshot');
  });

  it.each<[string, RolloutState | undefined, string | undefined, readonly string[]]>([
    [
      'a proxy that connects',
      { kind: 'pending', acknowledged: 0, proxies: 1 },
      undefined,
      ['True'],
    ],
    ['a new leader', undefined, undefined, ['True']],
    ['no proxy', { kind: 'no-proxies' }, undefined, ['Unknown', 'NoProxies']],
    ['an obstacle', { kind: 'programmed' }, 'most routes are gone', ['False', 'HeldBack']],
  ])('has the right Programmed condition with %s', (_, rollout, obstacle, expected) => {
    const status = statusOf({ rollout, obstacle, current: statusOf() });
    expect(programmedOf(status)).toEqual(expect.arrayContaining([...expected]));
  });

  it('keeps the spec that serves for the next leader', () => {
    const verdict = settingsVerdict({
      generation: 5,
      servedGeneration: 4,
      problems: [{ path: 'spec.cookie.expiration', reason: 'InvalidSpec', message: 'no' }],
    });
    expect(statusOf({ verdict }).served).toEqual({ generation: 4, spec: { of: 4 } });
  });

  it('differs in detail when only counters differ', () => {
    const publication = { ...PUBLICATION, proxies: [], position: { epoch: 7, sequence: 43 } };
    const other = statusOf({ gateway: gatewayOf({ publication, attachedRoutes: 9 }) });
    expect(compareStatus(statusOf(), other)).toBe('detail');
    const service = {
      metadata: { name: 'proxy' },
      status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
    };
    const moved = statusOf({ gateway: gatewayOf({ service }) });
    expect(compareStatus(statusOf(), moved)).toBe('final');
  });
});
