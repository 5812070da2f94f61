import { describe, expect, test } from '@jest/globals';

import type { GatewayFacts, SettingsFacts } from '../../../../cli/cluster/read-gateway.ts';
import { renderStatus } from '../../../../cli/cluster/render-status.ts';
import { routeFacts, type RouteFacts } from '../../../../cli/cluster/route-facts.ts';
import { statusReport, type StatusReport } from '../../../../cli/cluster/status-report.ts';
import type { Lease } from '../../../../controller/leader/lease.ts';

const NOW = Date.UTC(2026, 0, 2);
const GATEWAY = {
  settings: { namespace: 'gatehouse', name: 'gatehouse' },
  gatewayClass: 'gatehouse',
};
const TIME = '2026-01-01T23:57:00Z';
const CONDITIONS = ['Accepted', 'ResolvedRefs', 'Programmed'].map((type) => ({
  ...{ type, status: 'True' as const, reason: type, message: '' },
  lastTransitionTime: TIME,
}));
const PROXIES = { connected: 3, ready: 3, synced: 3, rejected: 0 };
const SETTINGS: SettingsFacts = {
  metadata: { name: 'gatehouse', namespace: 'gatehouse', generation: 4 },
  spec: {},
  status: {
    ...{ observedGeneration: 4, conditions: CONDITIONS, proxies: PROXIES },
    snapshot: { revision: '7.42', hash: 'abc', time: TIME },
    addresses: [{ type: 'IPAddress', value: '203.0.113.7' }],
  },
  certificates: [{ secret: 'gatehouse/default', notAfter: '2026-03-01T00:00:00Z' }],
};
const LEASE: Lease = {
  metadata: { name: 'gatehouse-controller' },
  spec: {
    holderIdentity: 'gatehouse-controller-x7_0123456789abcdef',
    ...{ leaseDurationSeconds: 15, renewTime: '2026-01-01T23:59:58.000000Z' },
  },
};

function aFact(name: string, change: object = {}): RouteFacts {
  const status = { gatewayClassName: 'gatehouse', conditions: CONDITIONS, ...change };
  const metadata = { name, namespace: 'shop', creationTimestamp: TIME };
  return routeFacts(
    { metadata, spec: { from: `https://${name}.example.com` }, status },
    'gatehouse',
    NOW,
  );
}

function factsWith(change: Partial<GatewayFacts> = {}): GatewayFacts {
  return {
    settings: { kind: 'found', value: SETTINGS },
    lease: { kind: 'found', value: LEASE },
    routes: { kind: 'found', value: { namespace: undefined, routes: [aFact('a')] } },
    ...change,
  };
}

function reportOf(change: Partial<GatewayFacts> = {}): StatusReport {
  return statusReport(factsWith(change), GATEWAY, NOW);
}

function withStatus(change: object): Partial<GatewayFacts> {
  const status = { ...SETTINGS.status, ...change };
  return { settings: { kind: 'found', value: { ...SETTINGS, status } } };
}

function withLease(spec: Lease['spec']): Partial<GatewayFacts> {
  return { lease: { kind: 'found', value: { ...LEASE, spec: { ...LEASE.spec, ...spec } } } };
}

describe('the status of a gateway', () => {
  test('says what is there when nothing is wrong', () => {
    expect(renderStatus(reportOf(), NOW)).toBe(`Gateway gatehouse/gatehouse: no problems

Settings       generation 4: Accepted, ResolvedRefs, Programmed
Addresses      203.0.113.7
Snapshot       7.42, published 3m ago
Proxies        3 connected, 3 ready, 3 with the newest snapshot
Leader         gatehouse-controller-x7, renewed 2s ago
Routes         1 in all namespaces: 1 serving
Certificates   1 in use; the first, of the Secret gatehouse/default, expires in 58d
`);
  });

  test('shows problems first, and no control characters of others', () => {
    const refused = {
      ...CONDITIONS[0],
      status: 'False',
      reason: 'InvalidSpec',
      message: 'a\u001bb',
    };
    const broken = aFact('b', { conditions: [refused] });
    const value = { namespace: 'shop', routes: [aFact('a'), broken], note: 'only shop' };
    const text = renderStatus(reportOf({ routes: { kind: 'found', value } }), NOW);

    expect(text.split('\n').slice(0, 6)).toEqual([
      'Gateway gatehouse/gatehouse: 1 problem',
      '',
      'PROBLEM WITH   REASON        MESSAGE',
      'Route shop/b   InvalidSpec   a\\u001bb',
      '',
      'Note: only shop',
    ]);
    expect(text).toContain('2 in the namespace shop: 1 serving, 1 with a problem');
  });

  test('shows the first twenty problems, and counts the others', () => {
    const routes = Array.from({ length: 25 }, (_, index) =>
      aFact(`r${String(index)}`, { conditions: [{ ...CONDITIONS[0], status: 'False' }] }),
    );
    const report = reportOf({ routes: { kind: 'found', value: { namespace: undefined, routes } } });

    expect(report.problems).toHaveLength(25);
    expect(renderStatus(report, NOW)).toContain('and 5 more: see routes --problems');
  });

  test.each([
    { change: withStatus({ observedGeneration: 3 }), reason: 'NotReported' },
    { change: withStatus({ conditions: undefined }), reason: 'NotReported' },
    { change: withStatus({ proxies: { ...PROXIES, ready: 2 } }), reason: 'NotReady' },
    { change: withStatus({ proxies: { ...PROXIES, synced: 2 } }), reason: 'Behind' },
    { change: withStatus({ proxies: { ...PROXIES, rejected: 1 } }), reason: 'Rejected' },
    {
      change: withStatus({ proxies: { connected: 0, ready: 0, synced: 0, rejected: 0 } }),
      reason: 'NoProxies',
    },
    { change: withLease({ holderIdentity: '' }), reason: 'NoLeader' },
    { change: withLease({ renewTime: '2026-01-01T23:59:00Z' }), reason: 'NoLeader' },
    { change: { lease: { kind: 'absent', why: 'none' } } as const, reason: 'NoLeader' },
    { change: { settings: { kind: 'absent', why: 'none' } } as const, reason: 'NotFound' },
  ])('$reason is a problem: $change', ({ change, reason }) => {
    expect(reportOf(change).problems).toMatchObject([{ reason }]);
  });

  test('proxies may take a minute for a new snapshot', () => {
    const snapshot = { revision: '7.43', hash: 'abd', time: '2026-01-01T23:59:30Z' };
    const report = reportOf(withStatus({ snapshot, proxies: { ...PROXIES, synced: 0 } }));

    expect(report.problems).toEqual([]);
  });

  test('a clock that is half a minute fast sees no expired Lease', () => {
    expect(reportOf(withLease({ renewTime: '2026-01-01T23:59:20Z' })).problems).toEqual([]);
  });

  test('what may not be read is a note, and not a problem', () => {
    const forbidden = { kind: 'forbidden', why: 'you need a right' } as const;
    const report = reportOf({ settings: forbidden, lease: forbidden });

    expect(report).toMatchObject({ problems: [], notes: ['you need a right', 'you need a right'] });
    expect(report).not.toHaveProperty('leader');
    expect(renderStatus(report, NOW)).not.toContain('Settings');
  });

  test('lists each certificate once, the one that expires first before the others', () => {
    const soon = { secret: 'shop/tls', notAfter: '2026-01-05T00:00:00Z' };
    const routes = ['a', 'b'].map((name) => aFact(name, { certificates: [soon] }));
    const report = reportOf({ routes: { kind: 'found', value: { namespace: undefined, routes } } });

    expect(report.certificates).toEqual([soon, ...SETTINGS.certificates]);
    expect(renderStatus(report, NOW)).toContain('2 in use; the first, of the Secret shop/tls');
  });
});
