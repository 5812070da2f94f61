import { networkInterfaces } from 'node:os';

import { stringify } from 'yaml';

import type { Cluster } from './cluster.ts';

/** A Service with one port. */
export interface ServicePlace {
  readonly namespace: string;
  readonly name: string;
}

/** Port of the Service; no target has this port. */
export const SERVICE_PORT = 80;

/** A Service without a selector, so that the test writes its EndpointSlices. */
export function serviceManifest({ namespace, name }: ServicePlace): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace, name },
    spec: { ports: [{ port: SERVICE_PORT, protocol: 'TCP' }] },
  });
}

/** The only EndpointSlice of a Service. */
export function sliceManifest(
  { namespace, name }: ServicePlace,
  { address, port }: { readonly address: string; readonly port: number },
): string {
  return stringify({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace, name, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports: [{ name: '', protocol: 'TCP', port }],
  });
}

/** Allows Routes of one namespace to refer to the Services of another. */
export function referenceGrantManifest(from: string, namespace: string): string {
  return stringify({
    apiVersion: 'gateway.networking.k8s.io/v1beta1',
    kind: 'ReferenceGrant',
    metadata: { namespace, name: `from-${from}` },
    spec: {
      from: [{ group: 'gatehouse.dev', kind: 'Route', namespace: from }],
      to: [{ group: '', kind: 'Service' }],
    },
  });
}

/**
 * Returns an address of this machine that a cluster accepts in an EndpointSlice. Real API servers
 * refuse loopback addresses.
 */
export function endpointAddress({ kind }: Pick<Cluster, 'kind'>): string {
  if (kind === 'fake') return '127.0.0.1';
  const address = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
  if (address === undefined) throw new Error('this machine has no address but loopback');
  return address;
}
