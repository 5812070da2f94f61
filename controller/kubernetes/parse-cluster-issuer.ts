import type { CompiledPublicKey } from '../../shared/snapshot/snapshot.ts';
import type { ClusterIssuer } from './cluster-issuer.ts';
import { memberOf } from './member-of.ts';
import { readClaims } from './token-claims.ts';

/** More keys than a rotation has, and fewer than make a snapshot large. */
const MAX_KEYS = 64;

/** Audiences of an API server that pods dial by the name of its Service. */
const SERVICE_AUDIENCES = [
  'https://kubernetes.default.svc',
  'https://kubernetes.default.svc.cluster.local',
  'https://kubernetes.default',
  'kubernetes.default.svc',
];

/** What an API server says about its tokens. */
export interface IssuerDocuments {
  /** Its discovery document (OpenID Connect Discovery, section 3). */
  readonly discovery: unknown;
  /** Its key set (RFC 7517, section 5). */
  readonly keySet: unknown;
  /** The token by which it knows this process; undefined if it is known by something else. */
  readonly ownToken: string | undefined;
}

/** Thrown if an API server says nothing about its tokens that could verify them. */
export class UnusableIssuerError extends Error {
  override readonly name = 'UnusableIssuerError';
}

/**
 * Parses the documents of an API server. Throws an `UnusableIssuerError` if they name no https issuer or no
 * key.
 *
 * An API server does not say what its own audiences are. It accepts the token of this process, so the
 * audiences of that are its own; its issuer is the default.
 */
export function parseClusterIssuer({
  discovery,
  keySet,
  ownToken,
}: IssuerDocuments): ClusterIssuer {
  const issuer = memberOf(discovery, 'issuer');
  if (typeof issuer !== 'string' || URL.parse(issuer)?.protocol !== 'https:') {
    throw new UnusableIssuerError('its discovery document names no https issuer');
  }
  const listed = memberOf(keySet, 'keys');
  const keys = (Array.isArray(listed) ? listed : []).flatMap(parseKey);
  if (keys.length === 0) throw new UnusableIssuerError('its key set has no key');
  if (keys.length > MAX_KEYS) throw new UnusableIssuerError('its key set has too many keys');
  const own = ownToken === undefined ? [] : (readClaims(ownToken)?.audiences ?? []);
  const audiences = own.filter((audience) => typeof audience === 'string');
  return { issuer, keys, apiAudiences: [issuer, ...SERVICE_AUDIENCES, ...audiences] };
}

const KEY_TYPES = ['RSA', 'EC', 'OKP'] as const;

/** Keys that cannot be named, or of another type, verify nothing. */
function parseKey(key: unknown): readonly CompiledPublicKey[] {
  const type = KEY_TYPES.find((known) => known === memberOf(key, 'kty'));
  const id = textOf(key, 'kid');
  if (type === undefined || id === undefined) return [];
  const names = ['alg', 'n', 'e', 'crv', 'x', 'y'] as const;
  const members = names.flatMap((name) => {
    const text = textOf(key, name);
    return text === undefined ? [] : [[name, text] as const];
  });
  return [{ kty: type, kid: id, ...Object.fromEntries(members) }];
}

function textOf(key: unknown, name: string): string | undefined {
  const value = memberOf(key, name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
