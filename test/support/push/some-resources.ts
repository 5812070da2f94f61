import type {
  CompiledResource,
  CompiledRoute,
  CompiledSigningKeys,
  SnapshotResource,
} from '../../../shared/snapshot/snapshot.ts';
import { AN_IDENTITY_PROVIDER, aResource } from '../compiled-resources.ts';
import { compiledSettings } from '../compiled-settings.ts';

/** A compiled route with every optional member, and `changes`. */
export function aFullRoute(name = 'team/app', changes: Partial<CompiledRoute> = {}): CompiledRoute {
  return {
    kind: 'route',
    name,
    scheme: 'https',
    host: `${name.replace('/', '.')}.example.com`,
    port: 443,
    path: { kind: 'prefix', value: '/app' },
    upstream: 'http://app.internal:8080',
    backends: [{ service: 'team/app', port: 8080, weight: 1 }],
    access: {
      kind: 'policy',
      policy: {
        allow: {
          and: [
            { kind: 'domain', matcher: { is: 'example.com' } },
            { kind: 'groups', matcher: { in: ['engineering', name] } },
          ],
        },
        deny: { or: [{ kind: 'claim', path: ['a', 'b'], matcher: { not_in: ['x'] } }] },
      },
    },
    mcpServer: { path: '/mcp', maxRequestBytes: 4_194_304 },
    allowWebsockets: false,
    responseTimeoutMs: 30_000,
    ...changes,
  };
}

/** Signing keys whose private key is invalid. */
export const SOME_SIGNING_KEYS: CompiledSigningKeys = {
  kind: 'signing-keys',
  keys: [
    {
      keyId: 'key-1',
      algorithm: 'ES256',
      privateKey: '-----BEGIN PRIVATE KEY-----\nthe-private-key\n-----END PRIVATE KEY-----\n',
    },
  ],
};

/** Converts each to a resource of a snapshot. */
export function resourcesOf(...values: readonly CompiledResource[]): readonly SnapshotResource[] {
  return values.map(aResource);
}

/** Settings, an identity provider, and this number of routes. */
export function manyResources(routes: number): readonly SnapshotResource[] {
  return resourcesOf(
    compiledSettings(),
    AN_IDENTITY_PROVIDER,
    ...Array.from({ length: routes }, (_, index) =>
      aFullRoute(`namespace-${String(index % 50)}/route-${String(index)}`),
    ),
  );
}
