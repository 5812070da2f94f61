import { hashResource, snapshotOf } from '../../shared/snapshot/hash-resource.ts';
import { resourceKey } from '../../shared/snapshot/resource-key.ts';
import type {
  CompiledCertificate,
  CompiledHeldHost,
  CompiledIdentityProvider,
  CompiledResource,
  CompiledRoute,
  CompiledService,
  Snapshot,
  SnapshotResource,
} from '../../shared/snapshot/snapshot.ts';
import { createThrowawayAuthority } from './throwaway-authority.ts';

/** A compiled public route with `changes`. */
export function aCompiledRoute(changes: Partial<CompiledRoute> = {}): CompiledRoute {
  return {
    kind: 'route',
    name: 'default/app',
    scheme: 'https',
    host: 'app.example.com',
    port: 443,
    path: { kind: 'prefix', value: '' },
    upstream: 'http://app.default.svc:8080',
    access: { kind: 'public' },
    allowWebsockets: false,
    responseTimeoutMs: 0,
    ...changes,
  };
}

/** A compiled Service with these targets for one port. */
export function aCompiledService(
  name = 'team/app',
  targets: readonly string[] = ['10.0.0.1:8080', '[fd00::1]:8080'],
  port = 8080,
): CompiledService {
  return { kind: 'service', name, ports: [{ port, targets }] };
}

/** A held host that a wildcard would serve. */
export function aHeldHost(host = 'app.example.com', ports = [443]): CompiledHeldHost {
  return { kind: 'held-host', host, ports };
}

/** A certificate for these hosts, of an authority of its own unless one is given. */
export function aCompiledCertificate(
  name = 'team/app',
  hosts: readonly string[] = ['app.example.com'],
  authority = createThrowawayAuthority(),
): CompiledCertificate {
  const { cert, key } = authority.issue(hosts);
  const notAfter = Date.parse('2049-12-31T23:59:59Z') / 1000;
  return { kind: 'certificate', name, certificate: cert, privateKey: key, hosts, notAfter };
}

/** A compiled identity provider with every optional member. */
export const AN_IDENTITY_PROVIDER: CompiledIdentityProvider = {
  kind: 'identity-provider',
  name: 'idp',
  issuer: 'https://idp.example.com',
  signIn: true,
  clientId: 'gatehouse',
  clientSecret: 'the-client-secret',
  scopes: ['openid'],
  authorizationParams: { prompt: 'login' },
  audiences: ['api'],
  jwksUrl: 'https://idp.example.com/keys',
  accessTokenType: 'jwt',
  keys: [{ kty: 'EC', kid: 'key-1', alg: 'ES256', crv: 'P-256', x: 'x', y: 'y' }],
};

/** A snapshot of these resources, under the keys of their kinds. */
export function aSnapshot(...values: readonly CompiledResource[]): Snapshot {
  return snapshotOf(values.map(aResource));
}

/** A resource of a snapshot, under the key of its kind. */
export function aResource(value: CompiledResource): SnapshotResource {
  return hashResource(resourceKey(value), value);
}
