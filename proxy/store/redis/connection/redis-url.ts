import { isIPv6 } from 'node:net';

import type { RedisAddress, RedisLogin, RedisTarget, SentinelTarget } from './redis-target.ts';
import { readRedisUrlParameters, type RedisUrlParameters } from './redis-url-parameters.ts';
import { RedisUrlError } from './redis-url-error.ts';

const REDIS_PORT = 6379;
const SENTINEL_PORT = 26_379;
const HIGHEST_PORT = 65_535;
/** User of a password that is given without a user. */
const DEFAULT_USER = 'default';

const SCHEME = /^(rediss?)(?:\+(sentinel|cluster))?:\/\//i;
const HOST_NAME = /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_.])?$/i;
const PORT = /^\d{1,5}$/;
const DATABASE = /^\d{1,9}$/;
/** Characters that Sentinel allows in the name of a master. */
const MASTER_NAME = /^[\w.-]+$/;

/**
 * Parses a Redis URL: `redis://`, `redis+sentinel://`, `redis+cluster://`, each also as `rediss`.
 * `URL` cannot parse several hosts.
 *
 * Throws a `RedisUrlError` if it is not one.
 */
export function parseRedisUrl(text: string): RedisTarget {
  const url = splitUrl(text);
  const { kind, isTls, hosts, path, query } = url;
  const parameters = readRedisUrlParameters(query, { isTls, isSentinel: kind === 'sentinel' });
  const common = commonOf(url, parameters);
  switch (kind) {
    case 'standalone':
      return { kind, ...common, address: onlyAddressOf(hosts), database: databaseOf(path) };
    case 'sentinel':
      return {
        kind,
        ...common,
        ...sentinelLoginOf(parameters),
        ...masterOf(path),
        sentinels: addressesOf(hosts, SENTINEL_PORT),
      };
    case 'cluster':
      if (path !== '') throw new RedisUrlError('a Redis Cluster has no databases: drop the path');
      return { kind, ...common, nodes: addressesOf(hosts, REDIS_PORT) };
  }
}

interface Scheme {
  readonly kind: RedisTarget['kind'];
  readonly isTls: boolean;
}

interface UrlParts extends Scheme {
  readonly login: RedisLogin | undefined;
  readonly hosts: string;
  /** Without its first slash. */
  readonly path: string;
  /** Without its question mark. */
  readonly query: string;
}

function splitUrl(text: string): UrlParts {
  const { rest, ...scheme } = splitScheme(text);
  const authority = /^[^/?]*/.exec(rest)?.[0] ?? '';
  const tail = rest.slice(authority.length);
  const at = authority.lastIndexOf('@');
  const userInfo = at === -1 ? undefined : authority.slice(0, at);
  // Checked first, because the errors below may quote what they refuse: with one of these
  // characters in a password, part of it would look like a host, a path or a parameter.
  if (/[\s#]/.test(text) || tail.includes('@') || userInfo?.includes('@') === true) {
    throw new RedisUrlError(
      'in user, password, path and parameters, each of / ? # @ and every space must be percent-encoded',
    );
  }
  const [, path = '', query = ''] = /^\/?([^?]*)\??(.*)$/.exec(tail) ?? [];
  const login = userInfo === undefined ? undefined : loginOf(userInfo);
  return { ...scheme, login, hosts: authority.slice(at + 1), path, query };
}

function splitScheme(text: string): Scheme & { readonly rest: string } {
  const scheme = SCHEME.exec(text);
  if (scheme === null) {
    throw new RedisUrlError(
      'it must begin with redis://, redis+sentinel:// or redis+cluster://, or the same as rediss',
    );
  }
  const [start, protocol = '', mode = 'standalone'] = scheme;
  return {
    kind: kindOf(mode.toLowerCase()),
    isTls: protocol.toLowerCase() === 'rediss',
    rest: text.slice(start.length),
  };
}

function kindOf(mode: string): RedisTarget['kind'] {
  return mode === 'sentinel' || mode === 'cluster' ? mode : 'standalone';
}

function loginOf(userInfo: string): RedisLogin {
  const colon = userInfo.indexOf(':');
  if (colon === -1 || colon === userInfo.length - 1) {
    throw new RedisUrlError('before the @ it must say user:password, or :password');
  }
  return {
    username: decoded(userInfo.slice(0, colon)) || DEFAULT_USER,
    password: decoded(userInfo.slice(colon + 1)),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new RedisUrlError('user and password must be percent-encoded UTF-8');
  }
}

function commonOf(
  { isTls, login }: UrlParts,
  { prefix, tls }: RedisUrlParameters,
): Pick<RedisTarget, 'prefix' | 'login' | 'tls'> {
  return { prefix, ...(login && { login }), ...(isTls && { tls }) };
}

function sentinelLoginOf({
  sentinelUser = DEFAULT_USER,
  sentinelPassword,
}: RedisUrlParameters): Pick<SentinelTarget, 'sentinelLogin'> {
  if (sentinelPassword === undefined) return {};
  return { sentinelLogin: { username: sentinelUser, password: sentinelPassword } };
}

function masterOf(path: string): Pick<SentinelTarget, 'master' | 'database'> {
  const [master = '', ...rest] = path.split('/');
  if (!MASTER_NAME.test(master)) {
    throw new RedisUrlError('the path must name the master that the sentinels watch');
  }
  return { master, database: databaseOf(rest.join('/')) };
}

function onlyAddressOf(hosts: string): RedisAddress {
  const [address, ...others] = addressesOf(hosts, REDIS_PORT);
  if (address === undefined || others.length > 0) {
    throw new RedisUrlError('several hosts need redis+sentinel:// or redis+cluster://');
  }
  return address;
}

function addressesOf(hosts: string, defaultPort: number): readonly RedisAddress[] {
  return hosts.split(',').map((text) => addressOf(text, defaultPort));
}

function addressOf(text: string, defaultPort: number): RedisAddress {
  const [, inBrackets, name, port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(.*))?$/.exec(text) ?? [];
  const host = inBrackets ?? name ?? '';
  const isHost = inBrackets === undefined ? HOST_NAME.test(host) : isIPv6(host);
  if (!isHost)
    throw new RedisUrlError('a host must be a name, an IPv4 address or [an IPv6 address]');
  return { host, port: port === undefined ? defaultPort : portOf(port) };
}

function portOf(text: string): number {
  const port = PORT.test(text) ? Number(text) : 0;
  if (port < 1 || port > HIGHEST_PORT) {
    throw new RedisUrlError(`a port must be a number from 1 to ${String(HIGHEST_PORT)}`);
  }
  return port;
}

function databaseOf(path: string): number {
  if (path === '') return 0;
  if (!DATABASE.test(path)) throw new RedisUrlError('the database in the path must be a number');
  return Number(path);
}
