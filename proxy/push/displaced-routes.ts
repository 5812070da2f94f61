import type { CompiledRoute, Snapshot, SnapshotResource } from '../../shared/snapshot/snapshot.ts';

/**
 * Keys of the routes that stay as they are while a route that came has their address. A snapshot gives
 * an address once: such a route has lost it, and stays only where this proxy refused its new content.
 */
export function displacedRoutes(
  put: ReadonlyMap<string, SnapshotResource>,
  resources: ReadonlyMap<string, SnapshotResource>,
  before: Snapshot | undefined,
): readonly string[] {
  const arrived = new Map<string, CompiledRoute[]>();
  for (const [key, resource] of put) {
    if (before?.resources.get(key) === resource || resource.value.kind !== 'route') continue;
    const { host } = resource.value;
    const others = arrived.get(host) ?? [];
    others.push(resource.value);
    arrived.set(host, others);
  }
  if (arrived.size === 0 || resources.size === put.size) return [];
  const displaced: string[] = [];
  for (const [key, { value }] of resources) {
    if (value.kind !== 'route' || put.has(key)) continue;
    if (arrived.get(value.host)?.some((other) => isSameAddress(value, other)) === true) {
      displaced.push(key);
    }
  }
  return displaced;
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
