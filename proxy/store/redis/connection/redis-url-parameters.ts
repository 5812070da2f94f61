import type { RedisTls } from './redis-target.ts';
import { RedisUrlError } from './redis-url-error.ts';

const DEFAULT_PREFIX = 'gatehouse';
/** Without braces, with which the stores choose the slot of a key in a Cluster. */
const PREFIX = /^[A-Za-z0-9_.:-]{1,100}$/;
const SERVER_NAME = /^[a-z0-9_.-]+$/i;

const NAMES = [
  'prefix',
  'ca_file',
  'cert_file',
  'key_file',
  'server_name',
  'sentinel_user',
  'sentinel_password',
] as const;
type Name = (typeof NAMES)[number];

const TLS_ONLY: readonly Name[] = ['ca_file', 'cert_file', 'key_file', 'server_name'];
const SENTINEL_ONLY: readonly Name[] = ['sentinel_user', 'sentinel_password'];

/** The parameters of a Redis URL. */
export interface RedisUrlParameters {
  /** With its colon. */
  readonly prefix: string;
  readonly tls: RedisTls;
  readonly sentinelUser?: string;
  readonly sentinelPassword?: string;
}

/** Parses the query of a Redis URL. A parameter without effect is an error. */
export function readRedisUrlParameters(
  query: string,
  { isTls, isSentinel }: { readonly isTls: boolean; readonly isSentinel: boolean },
): RedisUrlParameters {
  const values = valuesOf(query);
  for (const name of values.keys()) {
    if (!isTls && TLS_ONLY.includes(name)) throw new RedisUrlError(`${name} needs rediss`);
    if (!isSentinel && SENTINEL_ONLY.includes(name)) {
      throw new RedisUrlError(`${name} is for redis+sentinel:// and rediss+sentinel://`);
    }
  }
  const sentinelUser = values.get('sentinel_user');
  const sentinelPassword = values.get('sentinel_password');
  if (sentinelUser !== undefined && sentinelPassword === undefined) {
    throw new RedisUrlError('sentinel_user needs sentinel_password');
  }
  return {
    prefix: prefixOf(values),
    tls: tlsOf(values),
    ...(sentinelUser !== undefined && { sentinelUser }),
    ...(sentinelPassword !== undefined && { sentinelPassword }),
  };
}

type Values = ReadonlyMap<Name, string>;

/** `URLSearchParams` would read plus signs, which passwords and paths may have, as spaces. */
function valuesOf(query: string): Values {
  const values = new Map<Name, string>();
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const given = equals === -1 ? pair : pair.slice(0, equals);
    const name = NAMES.find((known) => known === given);
    if (name === undefined) {
      // Not quoted: it may be the end of a password with an `&` that was not encoded.
      throw new RedisUrlError(
        `one of its parameters does not exist; there are ${NAMES.join(', ')}, and & in a value is %26`,
      );
    }
    if (values.has(name)) throw new RedisUrlError(`${name} is given twice`);
    const value = equals === -1 ? '' : decoded(name, pair.slice(equals + 1));
    if (value === '') throw new RedisUrlError(`${name} is empty`);
    values.set(name, value);
  }
  return values;
}

function decoded(name: Name, text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new RedisUrlError(`${name} must be percent-encoded UTF-8`);
  }
}

function prefixOf(values: Values): string {
  const prefix = values.get('prefix') ?? DEFAULT_PREFIX;
  if (!PREFIX.test(prefix)) {
    throw new RedisUrlError('prefix must be letters, digits and _ . : -, at most 100 of them');
  }
  return prefix.endsWith(':') ? prefix : `${prefix}:`;
}

function tlsOf(values: Values): RedisTls {
  const caFile = values.get('ca_file');
  const certFile = values.get('cert_file');
  const keyFile = values.get('key_file');
  const serverName = values.get('server_name');
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new RedisUrlError('cert_file and key_file need each other');
  }
  if (serverName !== undefined && !SERVER_NAME.test(serverName)) {
    throw new RedisUrlError('server_name must be a host name');
  }
  return {
    ...(caFile !== undefined && { caFile }),
    ...(certFile !== undefined &&
      keyFile !== undefined && { clientCertificate: { certFile, keyFile } }),
    ...(serverName !== undefined && { serverName }),
  };
}
