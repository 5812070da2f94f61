import { lookup as systemLookup } from 'node:dns/promises';
import { isIP } from 'node:net';

import type { Cidrs } from '../http/address-ranges.ts';
import { isOnAllowedDomain } from './allowed-domain.ts';
import { OutboundFailedError, OutboundRefusedError } from './outbound-errors.ts';
import {
  type OutboundContent,
  type OutboundResponse,
  pinnedRequest,
  type ResolvedAddress,
} from './pinned-request.ts';
import { isLoopbackAddress, isPublicAddress } from './public-address.ts';
import { untilAborted } from './until-aborted.ts';

/** Options of one fetch. */
export interface GuardedFetchOptions extends OutboundContent {
  /** Bounds the body of the response; longer ones fail. 0: the body is not wanted, and left unread. */
  readonly maxBytes: number;
  /** Bounds everything together: resolving, connecting, and the last byte of the body. */
  readonly timeoutMs: number;
  /** Networks that are allowed although they are not public (`outboundAllowedCidrs`). */
  readonly allowedCidrs: Cidrs;
  /** Domain patterns. Absent: the domain was checked before, or is an operator's own word. */
  readonly allowedDomains?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** All addresses, for URLs that an operator wrote: `to` may name any host too. */
export const ANY_ADDRESS: Cidrs = ['0.0.0.0/0', '::/0'];

/** Fetches a URL that came from outside; throws `OutboundRefusedError` or `OutboundFailedError`. */
export type GuardedFetch = (url: string, options: GuardedFetchOptions) => Promise<OutboundResponse>;

/** Options of `createGuardedFetch`. */
export interface GuardedFetchSettings {
  /** Allows loopback, also by http (`--dev-allow-loopback`). */
  readonly devAllowLoopback: boolean;
  /** Certificate authorities in PEM, instead of the well-known ones. */
  readonly ca?: string;
  readonly lookup?: (hostname: string) => Promise<readonly ResolvedAddress[]>;
}

/**
 * Makes the only function that fetches URLs that came from outside. Attack: server-side request forgery.
 *
 * HTTPS only, and an allowed domain where one is demanded; the host is resolved once, every address is checked, and
 * the connection goes to a checked address; no redirect is followed; size and time are bounded; no proxy, cookie or
 * credential is used.
 */
export function createGuardedFetch({
  devAllowLoopback,
  ca,
  lookup = (hostname) => systemLookup(hostname, { all: true }),
}: GuardedFetchSettings): GuardedFetch {
  return async (text, { signal, timeoutMs, allowedCidrs, allowedDomains, ...options }) => {
    const url = parseTarget(text, { devAllowLoopback, allowedDomains });
    const deadline = AbortSignal.timeout(timeoutMs);
    const stop = signal ? AbortSignal.any([signal, deadline]) : deadline;
    try {
      const addresses = await untilAborted(resolve(url.hostname, lookup), stop);
      checkAddresses(url, addresses, { devAllowLoopback, allowedCidrs });
      const response = pinnedRequest(url, addresses, { ...options, ca, signal: stop });
      return await untilAborted(response, stop);
    } catch (error) {
      throw explain(error, url, { deadline, stop });
    }
  };
}

function parseTarget(
  text: string,
  {
    devAllowLoopback,
    allowedDomains,
  }: Pick<GuardedFetchSettings & GuardedFetchOptions, 'devAllowLoopback' | 'allowedDomains'>,
): URL {
  const url = URL.parse(text);
  if (url === null) throw new OutboundRefusedError('url', 'not an absolute URL');
  const isAllowed = url.protocol === 'https:' || (url.protocol === 'http:' && devAllowLoopback);
  if (!isAllowed)
    throw new OutboundRefusedError('scheme', `${url.protocol} is refused, only https is allowed`);
  if (url.username !== '' || url.password !== '') {
    throw new OutboundRefusedError('userinfo', 'the URL has a user name or password');
  }
  if (allowedDomains !== undefined && !isOnAllowedDomain(text, allowedDomains)) {
    throw new OutboundRefusedError('domain', `${url.hostname} is not on an allowed domain`);
  }
  return url;
}

async function resolve(
  hostname: string,
  lookup: NonNullable<GuardedFetchSettings['lookup']>,
): Promise<readonly ResolvedAddress[]> {
  const literal = hostname.replace(/^\[|\]$/g, '');
  const family = isIP(literal);
  if (family !== 0) return [{ address: literal, family }];
  // RFC 6761, section 6.3: these names are this machine, although few name servers know them.
  if (hostname.endsWith('.localhost')) return [{ address: '127.0.0.1', family: 4 }];
  try {
    const addresses = await lookup(hostname);
    if (addresses.length > 0) return addresses;
  } catch (cause) {
    throw new OutboundFailedError('dns', `${hostname} cannot be resolved`, { cause });
  }
  throw new OutboundFailedError('dns', `${hostname} has no address`);
}

/** Attack: one bad address among good ones would be tried when the others fail. */
function checkAddresses(
  { hostname, protocol }: URL,
  addresses: readonly ResolvedAddress[],
  { devAllowLoopback, allowedCidrs }: { devAllowLoopback: boolean; allowedCidrs: Cidrs },
): void {
  for (const { address } of addresses) {
    if (devAllowLoopback && isLoopbackAddress(address)) continue;
    if (protocol === 'https:' && isPublicAddress(address, allowedCidrs)) continue;
    throw new OutboundRefusedError('address', `${hostname} is at ${address}, which is off limits`);
  }
}

function explain(
  cause: unknown,
  { host }: URL,
  { deadline, stop }: { deadline: AbortSignal; stop: AbortSignal },
): Error {
  if (cause instanceof OutboundRefusedError) return cause;
  if (deadline.aborted) return new OutboundFailedError('timeout', `${host} took too long`);
  if (stop.aborted) return new OutboundFailedError('aborted', `fetching from ${host} was given up`);
  if (cause instanceof OutboundFailedError) return cause;
  return new OutboundFailedError('connection', `${host} could not be fetched from`, { cause });
}
