import type { Origin } from '../../shared/snapshot/origin.ts';
import type { Sealer } from '../crypto/sealer.ts';
import { PATHS } from '../endpoints/paths.ts';
import type { UserReference } from '../records/user-key.ts';

const MINUTE = 60 * 1000;

/** Where the user of a link goes afterwards; see `ReturnTarget`. */
export type LinkReturn =
  | { readonly kind: 'page' }
  | { readonly kind: 'account' }
  | { readonly kind: 'authorization'; readonly requestId: string };

/** What a link is for: one user, and the route of one MCP server. */
export interface ConnectLink {
  readonly user: UserReference;
  /** See `CompiledUpstreamOAuth.routeId`. */
  readonly routeId: string;
  readonly returnTo: LinkReturn;
}

/** A link that was opened. */
export interface OpenedLink extends ConnectLink {
  readonly isExpired: boolean;
}

/** A link for a page waits in a client until the user sees it; the others are followed at once. */
const LIFETIMES: Readonly<Record<LinkReturn['kind'], number>> = {
  page: 60 * MINUTE,
  account: 10 * MINUTE,
  authorization: 10 * MINUTE,
};

/** Makes and opens the links by which the gateway itself sends users to connect. */
export class ConnectLinks {
  readonly #sealer: Sealer;
  readonly #now: () => number;

  constructor({ sealer, now }: { readonly sealer: Sealer; readonly now: () => number }) {
    this.#sealer = sealer;
    this.#now = now;
  }

  /**
   * Returns a URL at the host of an MCP server, at which this user alone can connect it. A page whose form
   * leads there must allow `https:` as a target of forms: the redirects go on to other sites.
   */
  urlFor({ user, routeId, returnTo }: ConnectLink, origin: Origin): string {
    const { provider, issuer = null, subject } = user;
    const requestId = returnTo.kind === 'authorization' ? returnTo.requestId : null;
    const expiresAt = this.#now() + LIFETIMES[returnTo.kind];
    const members = [provider, issuer, subject, routeId, returnTo.kind, requestId, expiresAt];
    const sealed = this.#sealer.seal(JSON.stringify(members), contextOf(origin));
    return `${origin}${PATHS.connect}?link=${sealed}`;
  }

  /** Opens the value of `link`; null if this gateway did not make it for this origin. */
  open(sealed: string, origin: Origin): OpenedLink | null {
    const text = this.#sealer.open(sealed, contextOf(origin));
    return text === null ? null : parse(text, this.#now());
  }
}

/** Attack: a link of one host must not open at another. */
function contextOf(origin: Origin): string {
  return `connect-link ${origin}`;
}

function parse(text: string, now: number): OpenedLink {
  // Sealed by `urlFor`.
  const [provider, issuer, subject, routeId, kind, requestId, expiresAt] = JSON.parse(text) as [
    string,
    string | null,
    string,
    string,
    LinkReturn['kind'],
    string | null,
    number,
  ];
  const user = { provider, ...(issuer !== null && { issuer }), subject };
  const returnTo = kind === 'authorization' ? { kind, requestId: requestId ?? '' } : { kind };
  return { user, routeId, returnTo, isExpired: expiresAt <= now };
}
