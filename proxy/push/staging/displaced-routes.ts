import type {
  CompiledRoute,
  Snapshot,
  SnapshotResource,
} from '../../../shared/snapshot/snapshot.ts';
import type { RoutesByHost } from './routes-by-host.ts';

/** What comes, and what it comes to. */
export interface StagedResources {
  /** What was sent. */
  readonly put: ReadonlyMap<string, SnapshotResource>;
  /** All that there is then. */
  readonly resources: ReadonlyMap<string, SnapshotResource>;
}

/**
 * Keys of the routes that stay as they are while a route that came has their address. A snapshot gives
 * an address once: such a route has lost it, and stays only where this proxy refused its new content.
 */
export function displacedRoutes(
  { put, resources }: StagedResources,
  before: Snapshot | undefined,
  routesBefore: RoutesByHost,
): readonly string[] {
  if (resources.size === put.size) return [];
  const displaced = new Set<string>();
  for (const [key, resource] of put) {
    const { value: arrived } = resource;
    if (before?.resources.get(key) === resource || arrived.kind !== 'route') continue;
    for (const other of routesBefore.at(arrived.host)) {
      if (put.has(other)) continue;
      const value = resources.get(other)?.value;
      if (value?.kind === 'route' && isSameAddress(value, arrived)) displaced.add(other);
    }
  }
  return [...displaced];
}

/** Whether only one of the two may be there. */
function isSameAddress(one: CompiledRoute, other: CompiledRoute): boolean {
  if (one.port !== other.port) return false;
  if (one.scheme !== other.scheme) return true;
  if (one.path.kind === other.path.kind && one.path.value === other.path.value) return true;
  // MCP servers with one URL would accept each other's tokens (RFC 8707).
  if (one.mcpServer === undefined || other.mcpServer === undefined) return false;
  return withoutSlash(one.path.value) === withoutSlash(other.path.value);
}

function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}
