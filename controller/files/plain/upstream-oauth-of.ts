import { isRecord } from '../../../shared/runtime/is-record.ts';
import type { Mapping } from './translate-keys.ts';

/** The mapping `mcp.server.upstream_oauth2` of a route; empty if there is none. */
export function upstreamOAuthOf(route: unknown): Mapping {
  return mappingAt(mappingAt(mappingAt(route, 'mcp'), 'server'), 'upstream_oauth2');
}

function mappingAt(value: unknown, key: string): Mapping {
  const member = isRecord(value) ? value[key] : undefined;
  return isRecord(member) ? member : {};
}
