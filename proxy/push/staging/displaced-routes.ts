import type {
  CompiledRoute,
  Snapshot,
  SnapshotResource,
} from '../../../shared/snapshot/snapshot.ts';
import type { RoutesByHost } from './routes-by-host.ts';
import { withoutFinalSlash } from '../../../shared/paths/without-final-slash.ts';

/** The resources of a snapshot that is being received. */
export interface StagedResources {
  /** Resources that were sent. */
  readonly put: ReadonlyMap<string, SnapshotResource>;
  /** All resources of the snapshot. */
  readonly resources: ReadonlyMap<string, SnapshotResource>;
}

/**
 * Returns the keys of routes that were not sent, but that have the address of a route that was sent.
 * A snapshot gives each address to one route, so these routes have lost theirs. They are still there
 * only because this proxy rejected their newest content.
 */
export function displacedRoutes(
  { put, resources }: StagedResources,
  before: Snapshot | undefined,
  routesBefore: RoutesByHost,
): readonly string[] {
  if (resources.size === put.size) return [];
  const displaced = new Set<string>();
  for (const [key, resource] of put) {
    const { value: sent } = resource;
    if (before?.resources.get(key) === resource || sent.kind !== 'route') continue;
    for (const other of routesBefore.at(sent.host)) {
      if (put.has(other)) continue;
      const value = resources.get(other)?.value;
      if (value?.kind === 'route' && isSameAddress(value, sent)) displaced.add(other);
    }
  }
  return [...displaced];
}

/** Returns whether two routes have the same address, so that only one of them can be served. */
function isSameAddress(one: CompiledRoute, other: CompiledRoute): boolean {
  if (one.port !== other.port) return false;
  if (one.scheme !== other.scheme) return true;
  if (one.path.kind === other.path.kind && one.path.value === other.path.value) return true;
  // MCP servers with one URL would accept each other's tokens (RFC 8707).
  if (one.mcpServer === undefined || other.mcpServer === undefined) return false;
  return withoutFinalSlash(one.path.value) === withoutFinalSlash(other.path.value);
}
