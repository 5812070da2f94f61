import type { Route } from '../../crds/types.ts';
import type { CompiledRoute } from '../../shared/snapshot/snapshot.ts';
import type { Problem } from '../validate/problem.ts';
import { authorityOf } from './address.ts';
import { nameOf } from './resources.ts';

/** A route that is valid by itself. */
export interface Candidate {
  readonly route: Route;
  readonly compiled: CompiledRoute;
}

/** Which candidates serve, and why the others do not. */
export interface Conflicts {
  readonly winners: readonly Candidate[];
  readonly problems: readonly Problem[];
}

/**
 * Settles which route gets what several ask for: the oldest, then the first by namespace and name,
 * as in the Gateway API. The others are named in problems.
 */
export function findConflicts(candidates: readonly Candidate[]): Conflicts {
  const owners = new Map<string, Candidate>();
  const hosts = new Map<string, Candidate>();
  const winners: Candidate[] = [];
  const problems: Problem[] = [];
  for (const candidate of [...candidates].sort(byAge)) {
    const { compiled } = candidate;
    const authority = authorityOf(compiled);
    const host = hosts.get(authority);
    const claims = claimsOf(compiled);
    const [taken] = claims.flatMap(({ key, what }) => {
      const owner = owners.get(key);
      return owner === undefined ? [] : [{ owner, what }];
    });
    if (host !== undefined && host.compiled.scheme !== compiled.scheme) {
      problems.push(conflict(candidate, host, `serves ${authority} as ${host.compiled.scheme}`));
    } else if (taken !== undefined) {
      problems.push(conflict(candidate, taken.owner, taken.what));
    } else {
      winners.push(candidate);
      hosts.set(authority, host ?? candidate);
      for (const { key } of claims) owners.set(key, candidate);
    }
  }
  return { winners, problems };
}

/** Something that only one route can have. */
interface Claim {
  readonly key: string;
  /** What its owner does, for messages. */
  readonly what: string;
}

function claimsOf(compiled: CompiledRoute): readonly Claim[] {
  const { name, path, mcpServer } = compiled;
  const authority = authorityOf(compiled);
  const claims = [
    { key: `name ${name}`, what: 'has this name' },
    { key: `path ${authority} ${path.kind} ${path.value}`, what: 'serves the same host and path' },
  ];
  if (mcpServer === undefined) return claims;
  // Attack: MCP servers that share a resource identifier accept each other's tokens (RFC 8707).
  const url = authority + path.value.replace(/\/$/, '');
  return [...claims, { key: `mcp ${url}`, what: 'is an MCP server with the same URL' }];
}

function conflict({ compiled }: Candidate, winner: Candidate, what: string): Problem {
  return {
    resource: `Route ${compiled.name}`,
    path: 'spec.from',
    reason: 'HostConflict',
    message: `Route ${winner.compiled.name} already ${what}`,
  };
}

function byAge(a: Candidate, b: Candidate): number {
  const [one, other] = [ageKey(a.route), ageKey(b.route)];
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** Times of Kubernetes sort as text; a route without one has not been stored yet. */
function ageKey(route: Route): string {
  return `${route.metadata.creationTimestamp ?? '~'} ${nameOf(route)}`;
}
