import { describe, expect, test } from '@jest/globals';

import {
  parseStoredRoute,
  parseStoredSettings,
} from '../../../../controller/kubernetes/parse-stored.ts';

const METADATA = { name: 'files', namespace: 'team-a', uid: 'u', generation: 2 };
const CONDITION = {
  type: 'Accepted',
  status: 'True',
  reason: 'Accepted',
  message: 'The spec is valid.',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};

function routeStatusOf(status: unknown): unknown {
  const object = { metadata: METADATA, spec: {}, status };
  return parseStoredRoute(object).status;
}

function settingsStatusOf(status: unknown): unknown {
  const object = { metadata: METADATA, spec: {}, status };
  return parseStoredSettings(object).status;
}

describe('a stored Route', () => {
  test('keeps its spec as it is, whatever that is', () => {
    const object = { metadata: METADATA, spec: 'not an object' };
    expect(parseStoredRoute(object)).toEqual({ metadata: METADATA, spec: 'not an object' });
  });

  test('loses the metadata that only the API server and kubectl use', () => {
    const metadata = { ...METADATA, annotations: { a: 'b' }, managedFields: [{}] };
    const object = { metadata, spec: {} };
    expect(parseStoredRoute(object).metadata).toEqual(METADATA);
  });

  test('has every member of a status that the definition has', () => {
    const status = {
      gatewayClassName: 'gatehouse',
      observedGeneration: 2,
      conditions: [CONDITION, { ...CONDITION, type: 'Programmed', observedGeneration: 2 }],
      mcpRole: 'server',
      url: 'https://files.example.com',
      programmedGeneration: 1,
      configHash: 'hash',
      served: { generation: 1, spec: { from: 'https://files.example.com' } },
    };
    expect(routeStatusOf(status)).toEqual(status);
  });

  test.each([[null], ['status'], [7], [[]]])('has no status when the status is %j', (status) => {
    expect(routeStatusOf(status)).toBeUndefined();
  });

  test.each([
    [{ url: 5 }],
    [{ conditions: 'none' }],
    [{ served: null }],
    [{ served: { generation: '1', spec: {} } }],
    [{ served: { generation: 1, spec: null } }],
    [{ unknown: true }],
  ])('loses the member of a status that is not as in the definition: %j', (status) => {
    expect(routeStatusOf({ mcpRole: 'server', ...status })).toEqual({ mcpRole: 'server' });
  });

  test.each([
    [{ status: 'Maybe' }],
    [{ message: undefined }],
    [{ observedGeneration: 'newest' }],
    [{ lastTransitionTime: 0 }],
  ])('loses a condition that is not as in the definition: %j', (change) => {
    const conditions = [{ ...CONDITION, ...change }, CONDITION, null];
    expect(routeStatusOf({ conditions })).toEqual({ conditions: [CONDITION] });
  });
});

describe('stored GatewaySettings', () => {
  test('have every member of a status that the definition has', () => {
    const status = {
      addresses: [
        { type: 'IPAddress', value: '192.0.2.1' },
        { type: 'Hostname', value: 'lb.example.com' },
      ],
      attachedRoutes: 3,
      proxies: { connected: 3, ready: 2, synced: 1, rejected: 0 },
      snapshot: { revision: '7.42', hash: 'hash', time: '2026-01-01T00:00:00Z' },
      served: { generation: 1, spec: {} },
      observedGeneration: 2,
      conditions: [CONDITION],
    };
    expect(settingsStatusOf(status)).toEqual(status);
  });

  test.each([
    [{ addresses: {} }],
    [{ proxies: { connected: 3 } }],
    [{ proxies: { connected: 3, ready: 2, synced: 1 } }],
    [{ snapshot: { revision: 7, hash: 'hash', time: '' } }],
    [{ snapshot: { revision: '7', hash: 'hash' } }],
  ])('lose the member of a status that is not as in the definition: %j', (status) => {
    expect(settingsStatusOf({ attachedRoutes: 3, ...status })).toEqual({ attachedRoutes: 3 });
  });
});
