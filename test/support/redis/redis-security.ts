import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { createThrowawayAuthority } from '../throwaway-authority.ts';

/** Credentials and transport that a Redis requires. */
export interface RedisSecurityOptions {
  /** Whether it accepts only TLS, with a certificate for 127.0.0.1 and `localhost`. */
  readonly tls?: boolean;
  /** Whether clients must present a certificate too. */
  readonly clientCertificates?: boolean;
  /**
   * The only user that may connect, as an ACL line; e.g.
   * `{ name: 'gatehouse', password: 'secret', rules: '~gatehouse:* &gatehouse:* +@all' }`.
   */
  readonly user?: { readonly name: string; readonly password: string; readonly rules?: string };
  /** The password of the user `default`. */
  readonly password?: string;
}

/** Files of a TLS client. */
export interface ClientFiles {
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** `RedisSecurityOptions` with issued certificates. */
export interface RedisSecurity {
  readonly options: RedisSecurityOptions;
  /** Present with TLS. */
  readonly files?: ClientFiles;
  readonly administratorPassword: string;
  /** Connection options of ioredis for the user that tests inspect Redis with. */
  administrator(): {
    readonly username?: string;
    readonly password?: string;
    readonly tls?: { readonly ca: string; readonly cert: string; readonly key: string };
  };
}

const ADMINISTRATOR = 'test-administrator';
const ALLOWED = '~* &* +@all';

/** Issues certificates into that directory, if they are needed. */
export async function createRedisSecurity(
  options: RedisSecurityOptions,
  directory: string,
): Promise<RedisSecurity> {
  const administratorPassword = randomUUID();
  const login = { username: ADMINISTRATOR, password: administratorPassword };
  if (options.tls !== true) {
    return { options, administratorPassword, administrator: () => login };
  }
  const authority = createThrowawayAuthority();
  const { cert, key } = authority.issue(['127.0.0.1', 'localhost']);
  const files = {
    caFile: join(directory, 'ca.pem'),
    certFile: join(directory, 'cert.pem'),
    keyFile: join(directory, 'key.pem'),
  };
  await mkdir(directory, { recursive: true });
  await writeFile(files.caFile, authority.ca);
  await writeFile(files.certFile, cert);
  await writeFile(files.keyFile, key);
  const tls = { ca: authority.ca, cert, key };
  return {
    options,
    files,
    administratorPassword,
    administrator: () => ({ ...login, tls }),
  };
}

/** The lines of redis.conf that enforce these options. */
export function configurationOf(
  security: RedisSecurity,
  port: number,
  isSentinel: boolean,
): readonly string[] {
  const administrator = `user ${ADMINISTRATOR} on >${security.administratorPassword} ${ALLOWED}`;
  return [...listening(security, port), administrator, ...(isSentinel ? [] : users(security))];
}

function listening({ options, files }: RedisSecurity, port: number): readonly string[] {
  if (files === undefined) return [`port ${String(port)}`];
  return [
    'port 0',
    `tls-port ${String(port)}`,
    `tls-cert-file ${files.certFile}`,
    `tls-key-file ${files.keyFile}`,
    `tls-ca-cert-file ${files.caFile}`,
    `tls-auth-clients ${options.clientCertificates === true ? 'yes' : 'no'}`,
    'tls-replication yes',
    'tls-cluster yes',
  ];
}

function users({ options, administratorPassword }: RedisSecurity): readonly string[] {
  const { user, password } = options;
  const lines: string[] = [];
  if (password !== undefined) lines.push(`requirepass ${password}`, `masterauth ${password}`);
  if (user === undefined) return lines;
  lines.push(`user ${user.name} on >${user.password} ${user.rules ?? ALLOWED}`);
  if (password === undefined) lines.push('user default off');
  // A replica logs in to its master as the administrator.
  lines.push(`masteruser ${ADMINISTRATOR}`, `masterauth ${administratorPassword}`);
  return lines;
}

/** The parts of a URL that these options need: the scheme, `user:password@` and the parameters. */
export function urlPartsOf({ options, files }: RedisSecurity): {
  readonly scheme: 'redis' | 'rediss';
  readonly login: string;
  readonly parameters: Record<string, string>;
} {
  const { user, password } = options;
  const login = loginOf(user, password);
  if (files === undefined) return { scheme: 'redis', login, parameters: {} };
  const { caFile, certFile, keyFile } = files;
  const shown =
    options.clientCertificates === true ? { cert_file: certFile, key_file: keyFile } : {};
  return { scheme: 'rediss', login, parameters: { ca_file: caFile, ...shown } };
}

function loginOf(user: RedisSecurityOptions['user'], password: string | undefined): string {
  if (user !== undefined) {
    return `${encodeURIComponent(user.name)}:${encodeURIComponent(user.password)}@`;
  }
  return password === undefined ? '' : `:${encodeURIComponent(password)}@`;
}

/** `?` and the parameters, if there are any. A space is written `%20`, since `+` means a plus sign. */
export function queryOf(parameters: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(parameters);
  if (pairs.length === 0) return '';
  return `?${pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')}`;
}
