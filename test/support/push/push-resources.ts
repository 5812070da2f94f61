import { hashResource } from '../../../shared/snapshot/hash-resource.ts';
import type { SnapshotResource } from '../../../shared/snapshot/snapshot.ts';
import { compiledSettings } from '../compiled-settings.ts';

/** A public route of that name, with different content for each `generation`. */
export function pushedRoute(name: string, generation = 1): SnapshotResource {
  return hashResource(`route/default/${name}`, {
    kind: 'route',
    name: `default/${name}`,
    scheme: 'https',
    host: `${name}.example.com`,
    port: 443,
    path: { kind: 'prefix', value: `/generation-${String(generation)}` },
    upstream: `http://${name}.internal:8080`,
    access: { kind: 'public' },
    allowWebsockets: false,
    responseTimeoutMs: 30_000,
  });
}

/** Routes `<prefix>-0`, `<prefix>-1` and so on. */
export function pushedRoutes(count: number, prefix = 'route'): readonly SnapshotResource[] {
  return Array.from({ length: count }, (_, index) => pushedRoute(`${prefix}-${String(index)}`));
}

/** Settings, with different content for each gateway. */
export function pushedSettings(gateway = 'default'): SnapshotResource {
  return hashResource('settings', compiledSettings({ gatewayId: `gatehouse/${gateway}` }));
}
