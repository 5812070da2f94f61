import type { CompiledRoute } from '../../shared/snapshot/snapshot.ts';
import { authorityOf } from './address.ts';
import { compareText } from './compare-text.ts';
import type { Finding } from './outcome.ts';

/** A route that is valid by itself, and asks for a host. */
export interface Candidate {
  readonly namespace: string;
  /** Sorts by age, then by namespace and name. */
  readonly age: string;
  readonly compiled: CompiledRoute;
}

/**
 * Settles which of the candidates for one host get what several ask for: the oldest, then the first
 * by namespace and name, as in the Gateway API. Answers with those that lose, and why.
 *
 * `owner` is the only namespace that may use the host; undefined: all may.
 */
export function findConflicts<C extends Candidate>(
  candidates: readonly C[],
  owner: string | undefined,
): ReadonlyMap<C, Finding> {
  const losers = new Map<C, Finding>();
  const takers = new Map<string, Candidate>();
  const hosts = new Map<string, Candidate>();
  for (const candidate of [...candidates].sort((a, b) => compareText(a.age, b.age))) {
    const { compiled, namespace } = candidate;
    const { authority, claims } = askedBy(compiled);
    const first = hosts.get(authority);
    const taken = claims.find(({ key }) => takers.has(key));
    const taker = taken && takers.get(taken.key);
    if (owner !== undefined && owner !== namespace) {
      losers.set(candidate, conflict(`the host belongs to namespace ${owner}`));
    } else if (first !== undefined && first.compiled.scheme !== compiled.scheme) {
      const what = `serves ${authority} as ${first.compiled.scheme}`;
      losers.set(candidate, conflict(`${nameFor(candidate, first)} already ${what}`));
    } else if (taken !== undefined && taker !== undefined) {
      losers.set(candidate, conflict(`${nameFor(candidate, taker)} already ${taken.what}`));
    } else {
      hosts.set(authority, first ?? candidate);
      for (const { key } of claims) takers.set(key, candidate);
    }
  }
  return losers;
}

/** Something that only one route can have. */
interface Claim {
  readonly key: string;
  /** What its owner does, for messages. */
  readonly what: string;
}

/** What a route asks for. */
interface Asked {
  readonly authority: string;
  readonly claims: readonly Claim[];
}

const ASKED = new WeakMap<CompiledRoute, Asked>();

/** Found out once for a route, for it is asked with every change on its host. */
function askedBy(compiled: CompiledRoute): Asked {
  const known = ASKED.get(compiled);
  if (known !== undefined) return known;
  const authority = authorityOf(compiled);
  const asked = { authority, claims: claimsOf(compiled, authority) };
  ASKED.set(compiled, asked);
  return asked;
}

function claimsOf({ path, mcpServer }: CompiledRoute, authority: string): readonly Claim[] {
  const claims = [
    { key: `path ${authority} ${path.kind} ${path.value}`, what: 'serves the same host and path' },
  ];
  if (mcpServer === undefined) return claims;
  // Attack: MCP servers that share a resource identifier accept each other's tokens (RFC 8707).
  const url = authority + path.value.replace(/\/$/, '');
  return [...claims, { key: `mcp ${url}`, what: 'is an MCP server with the same URL' }];
}

/**
 * Everything that decides what a route gets besides its age: with the same claim, a route may be
 * replaced without a look at the others.
 */
export function claimKey({ scheme, path, mcpServer, ...address }: CompiledRoute): string {
  const kind = mcpServer === undefined ? 'web' : 'mcp';
  return [scheme, authorityOf(address), kind, path.kind, path.value].join(' ');
}

function conflict(message: string): Finding {
  return { path: 'spec.from', reason: 'HostConflict', message };
}

/** What a route is told of another one: in a foreign namespace, not its name. */
function nameFor({ namespace }: Candidate, other: Candidate): string {
  if (other.namespace === namespace) return `Route ${other.compiled.name}`;
  return `a Route of namespace ${other.namespace}`;
}
