import { describe, expect, test } from '@jest/globals';

import { parseEndpointSlice } from '../../../../controller/kubernetes/parse-endpoint-slice.ts';
import { parseReferenceGrant } from '../../../../controller/kubernetes/parse-reference-grant.ts';
import { parseSecretValues } from '../../../../controller/kubernetes/parse-secret-values.ts';
import {
  parseProxyService,
  parseService,
} from '../../../../controller/kubernetes/parse-service.ts';

const metadata = { name: 'files', namespace: 'team-a' };

describe('a Service', () => {
  test('keeps its type and ports', () => {
    const spec = {
      type: 'ExternalName',
      externalName: 'files.example.com',
      clusterIP: 'None',
      ports: [{ name: 'http', port: 80, protocol: 'TCP', nodePort: 30_000 }, { port: 81 }],
    };
    expect(parseService({ metadata: { ...metadata, uid: 'u' }, spec })).toEqual({
      metadata,
      spec: {
        type: 'ExternalName',
        externalName: 'files.example.com',
        ports: [{ name: 'http', port: 80, protocol: 'TCP' }, { port: 81 }],
      },
    });
  });

  test.each([[undefined], [null], [{ ports: null }], [{ type: 1 }]])(
    'has an empty spec when its spec is %j',
    (spec) => {
      expect(parseService({ metadata, spec })).toEqual({ metadata, spec: {} });
    },
  );

  test('loses a port that is not as in the definition', () => {
    const spec = { ports: [{ port: '80' }, null, { port: 81, name: 1 }] };
    expect(parseService({ metadata, spec }).spec).toEqual({ ports: [{ port: 81 }] });
  });

  test('has the addresses of its load balancer when proxies are behind it', () => {
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1', ipMode: 'VIP' }, { ip: 1 }] } };
    expect(parseProxyService({ metadata, status }).status).toEqual({
      loadBalancer: { ingress: [{ ip: '192.0.2.1' }, {}] },
    });
    expect(parseProxyService({ metadata, status: { loadBalancer: {} } })).not.toHaveProperty(
      'status',
    );
  });
});

describe('an EndpointSlice', () => {
  test('keeps addresses, readiness, ports and the name of its Service', () => {
    const labels = { 'kubernetes.io/service-name': 'files', team: 'a' };
    const object = {
      metadata: { ...metadata, labels },
      addressType: 'IPv4',
      endpoints: [
        { addresses: ['192.0.2.1'], conditions: { ready: false, serving: true }, nodeName: 'n' },
        { addresses: ['192.0.2.2'], conditions: { ready: null } },
      ],
      ports: [{ name: 'http', port: 80, protocol: 'TCP', appProtocol: 'http' }],
    };
    expect(parseEndpointSlice(object)).toEqual({
      metadata: { ...metadata, labels: { 'kubernetes.io/service-name': 'files' } },
      addressType: 'IPv4',
      endpoints: [
        { addresses: ['192.0.2.1'], conditions: { ready: false } },
        { addresses: ['192.0.2.2'] },
      ],
      ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
    });
  });

  test('without endpoints and ports has empty lists', () => {
    const object = { metadata, endpoints: null, ports: null };
    expect(parseEndpointSlice(object)).toEqual({ metadata, endpoints: [], ports: [] });
  });
});

describe('a ReferenceGrant', () => {
  const FROM = { group: 'gatehouse.dev', kind: 'Route', namespace: 'team-b' };
  const TO = { group: '', kind: 'Service', name: 'files' };

  test('keeps who may refer to what', () => {
    const spec = { from: [FROM], to: [TO, { group: '', kind: 'Service' }] };
    expect(parseReferenceGrant({ metadata, spec })).toEqual({ metadata, spec });
  });

  // Attack: a grant of one Service that loses its name would be a grant of all of them.
  test('grants nothing by an entry that is not as in the definition', () => {
    const spec = {
      from: [{ ...FROM, namespace: 7 }, FROM],
      to: [
        { ...TO, name: 7 },
        { ...TO, kind: undefined },
      ],
    };
    expect(parseReferenceGrant({ metadata, spec }).spec).toEqual({ from: [FROM], to: [] });
  });

  test('without a spec grants nothing', () => {
    expect(parseReferenceGrant({ metadata, spec: null })).toEqual({ metadata });
  });
});

describe('a Secret', () => {
  test.each([undefined, {}, { 'gatehouse.dev/referable': 'false' }, { referable: 'true' }])(
    'is not kept without the label that lets settings refer to it: %j',
    (labels) => {
      const object = {
        metadata: { ...metadata, ...(labels && { labels }) },
        data: { a: btoa('b') },
      };
      expect(parseSecretValues(object)).toBe('unlabelled');
    },
  );

  test('has its values decoded, by key', () => {
    const data = { password: btoa('hunter2'), broken: 7 };
    const labelled = { ...metadata, labels: { 'gatehouse.dev/referable': 'true' } };
    expect(parseSecretValues({ metadata: labelled, data })).toEqual(
      new Map([['password', Buffer.from('hunter2')]]),
    );
    expect(parseSecretValues({ metadata: labelled, data: null })).toEqual(new Map());
  });
});
