import { hashResource, snapshotOf } from '../../shared/snapshot/hash-resource.ts';
import type {
  CompiledResource,
  CompiledRoute,
  CompiledService,
  Snapshot,
  SnapshotResource,
} from '../../shared/snapshot/snapshot.ts';

/** A compiled public route, but for `changes`. */
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

/** A compiled Service with these endpoints for one port. */
export function aCompiledService(
  name: string,
  endpoints: readonly string[],
  port = 8080,
): CompiledService {
  return { kind: 'service', name, ports: [{ port, endpoints }] };
}

/** A snapshot of these resources, under the keys that they have by their kind. */
export function aSnapshot(...values: readonly CompiledResource[]): Snapshot {
  return snapshotOf(values.map(aResource));
}

/** A resource of a snapshot, under the key that it has by its kind. */
export function aResource(value: CompiledResource): SnapshotResource {
  const isNamed = value.kind !== 'settings' && value.kind !== 'signing-keys';
  return hashResource(isNamed ? `${value.kind}/${value.name}` : value.kind, value);
}
