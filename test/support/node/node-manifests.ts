import type { GatewaySettings, Route } from '../../../crds/types.ts';
import type { IssuedCertificate } from '../throwaway-authority.ts';
import { NODE_IP } from './node-names.ts';

/** Namespace of the release, and of its settings. */
export const RELEASE_NAMESPACE = 'gatehouse';
/** Namespace of its proxies. */
export const PROXIES_NAMESPACE = 'gatehouse-proxy';
/** Namespace of Routes. */
export const ROUTES_NAMESPACE = 'team';

const RESTRICTED = { 'pod-security.kubernetes.io/enforce': 'restricted' };
/** Secret with the certificate of all Routes, and in the namespace of the release with the default one. */
export const CERTIFICATE = 'gateway';
/** Secret with the client secret at the identity provider. */
export const CLIENT_SECRET = 'identity-provider';
const SERVICE_PORT = 80;
const GATEHOUSE_API = 'gatehouse.dev/v1alpha1';

/** A namespace that admits no pod with more rights than it needs. */
export function restrictedNamespace(name: string): object {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: RESTRICTED } };
}

/** A Secret that the settings or a Route may refer to. */
export function secretObject(
  namespace: string,
  name: string,
  stringData: Readonly<Record<string, string>>,
): object {
  const labels = { 'gatehouse.dev/referable': 'true' };
  return { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name, labels }, stringData };
}

/** A ConfigMap with the authority of the identity provider, for its `caRef`. */
export function authorityObject(name: string, ca: string): object {
  const metadata = { namespace: RELEASE_NAMESPACE, name };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'ca.crt': ca } };
}

/** A certificate for TLS with clients. */
export function certificateObject(
  namespace: string,
  name: string,
  { cert, key }: IssuedCertificate,
): object {
  const stringData = { 'tls.crt': cert, 'tls.key': key };
  return { ...secretObject(namespace, name, stringData), type: 'kubernetes.io/tls' };
}

/** The settings of the release. */
export function settingsObject(spec: GatewaySettings['spec']): object {
  const metadata = { namespace: RELEASE_NAMESPACE, name: 'gatehouse' };
  return { apiVersion: GATEHOUSE_API, kind: 'GatewaySettings', metadata, spec };
}

/** A Route to a Service, at `https://NAME.example.test`. */
export function routeObject(
  name: string,
  service: string,
  spec: Omit<Route['spec'], 'from' | 'backendRefs'>,
): Route {
  const tls = { certificateRefs: [{ name: CERTIFICATE }] };
  const backendRefs = [{ name: service, port: SERVICE_PORT }];
  return {
    apiVersion: GATEHOUSE_API,
    kind: 'Route',
    metadata: { namespace: ROUTES_NAMESPACE, name },
    spec: { from: `https://${exampleHost(name)}`, tls, backendRefs, ...spec },
  };
}

/** Host of a Route. */
export function exampleHost(route: string): string {
  return `${route}.example.test`;
}

/** A Service whose only target is a server of the tests, at its `port`. */
export function serviceObjects(
  name: string,
  port: number,
  servicePort = SERVICE_PORT,
): readonly [object, object] {
  const metadata = { namespace: ROUTES_NAMESPACE, name };
  return [
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port: servicePort }] } },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...metadata, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      endpoints: [{ addresses: [NODE_IP], conditions: { ready: true } }],
      ports: [{ name: '', port }],
    },
  ];
}
