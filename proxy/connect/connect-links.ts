import type { Origin } from '../../shared/snapshot/origin.ts';
import {
  formatTraceparent,
  parseTraceparent,
  type TraceContext,
} from '../../shared/telemetry/tracing/trace-context.ts';
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
  /** The trace in which it was made. Absent without tracing, and in links of earlier releases. */
  readonly trace?: TraceContext;
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
  urlFor({ user, routeId, returnTo, trace }: ConnectLink, origin: Origin): string {
    const { provider, issuer = null, subject } = user;
    const requestId = returnTo.kind === 'authorization' ? returnTo.requestId : null;
    const expiresAt = this.#now() + LIFETIMES[returnTo.kind];
    const members = [provider, issuer, subject, routeId, returnTo.kind, requestId, expiresAt];
    const text = JSON.stringify(
      trace === undefined ? members : [...members, formatTraceparent(trace)],
    );
    const sealed = this.#sealer.seal(text, contextOf(origin));
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
  // Sealed by `urlFor`. Links of earlier releases end before the trace.
  const members = JSON.parse(text) as [
    string,
    string | null,
    string,
    string,
    LinkReturn['kind'],
    string | null,
    number,
    string?,
  ];
  const [provider, issuer, subject, routeId, kind, requestId, expiresAt, traceparent] = members;
  const user = { provider, ...(issuer !== null && { issuer }), subject };
  const returnTo = kind === 'authorization' ? { kind, requestId: requestId ?? '' } : { kind };
  const trace = traceparent === undefined ? undefined : parseTraceparent(traceparent);
  const link = { user, routeId, returnTo, isExpired: expiresAt <= now };
  return trace === undefined ? link : { ...link, trace };
}
