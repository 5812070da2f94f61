import type { AuthorizationServer } from 'oauth4webapi';

import { UpstreamAuthError, type UpstreamAuthReason } from '../../errors/upstream-auth-error.ts';
import { isLoopbackHost } from '../../../shared/snapshot/loopback-host.ts';
import { LONGEST_URL_LENGTH } from './longest-url.ts';
import { textsOf } from './texts-of.ts';

/** Lists that must have a value, unless they are absent. */
const NEEDED = [
  ['response_types_supported', 'code'],
  ['grant_types_supported', 'authorization_code'],
] as const;

/**
 * Returns what the gateway uses of the metadata of an authorization server (RFC 8414, section 2). Throws an
 * `UpstreamAuthError` if no user could be sent there.
 */
export function parseServerMetadata(
  received: AuthorizationServer,
  { devAllowLoopback }: { readonly devAllowLoopback: boolean },
): AuthorizationServer {
  const metadata = new MetadataReader(received, devAllowLoopback);
  metadata.requireSha256();
  for (const [name, value] of NEEDED) metadata.requireInList(name, value);
  const registration = metadata.url('registration_endpoint');
  const revocation = metadata.url('revocation_endpoint');
  const scopes = metadata.list('scopes_supported');
  const methods = metadata.list('token_endpoint_auth_methods_supported');
  return {
    issuer: received.issuer,
    authorization_endpoint: metadata.requiredUrl('authorization_endpoint'),
    token_endpoint: metadata.requiredUrl('token_endpoint'),
    ...(registration !== undefined && { registration_endpoint: registration }),
    ...(revocation !== undefined && { revocation_endpoint: revocation }),
    ...(scopes !== undefined && { scopes_supported: scopes }),
    ...(methods !== undefined && { token_endpoint_auth_methods_supported: methods }),
    authorization_response_iss_parameter_supported: metadata.isTrue(
      'authorization_response_iss_parameter_supported',
    ),
    client_id_metadata_document_supported: metadata.isTrue('client_id_metadata_document_supported'),
  };
}

class MetadataReader {
  readonly #members: Readonly<Record<string, unknown>>;
  readonly #issuer: string;
  readonly #devAllowLoopback: boolean;

  constructor(received: AuthorizationServer, devAllowLoopback: boolean) {
    this.#members = received;
    this.#issuer = received.issuer;
    this.#devAllowLoopback = devAllowLoopback;
  }

  isTrue(name: string): boolean {
    return this.#members[name] === true;
  }

  list(name: string): string[] | undefined {
    const texts = textsOf(this.#members[name]);
    return texts === undefined ? undefined : [...texts];
  }

  url(name: string): string | undefined {
    const value = this.#members[name];
    if (value === undefined) return undefined;
    if (typeof value === 'string' && this.#isSafe(value)) return value;
    throw this.#problem(`have a ${name} that is not an https URL`);
  }

  requiredUrl(name: string): string {
    const url = this.url(name);
    if (url === undefined) throw this.#problem(`have no ${name}`);
    return url;
  }

  requireInList(name: string, value: string): void {
    if (this.#members[name] === undefined || this.list(name)?.includes(value) === true) return;
    throw this.#problem(`do not list ${value} in ${name}`);
  }

  /** MCP specification, Authorization, "Authorization Code Protection": clients refuse to go on without. */
  requireSha256(): void {
    const name = 'code_challenge_methods_supported';
    if (this.list(name)?.includes('S256') === true) return;
    throw this.#problem(`do not list S256 in ${name}`, 'upstream-auth-no-pkce');
  }

  /** Attack: the browser is sent to the authorization endpoint, whatever its scheme. */
  #isSafe(text: string): boolean {
    const url = text.length > LONGEST_URL_LENGTH ? null : URL.parse(text);
    if (url?.username !== '' || url.password !== '') return false;
    if (url.protocol === 'https:') return true;
    return this.#devAllowLoopback && url.protocol === 'http:' && isLoopbackHost(url.hostname);
  }

  #problem(
    problem: string,
    reason: UpstreamAuthReason = 'upstream-auth-metadata-invalid',
  ): UpstreamAuthError {
    const details = { step: 'server-metadata', host: URL.parse(this.#issuer)?.host } as const;
    return new UpstreamAuthError(reason, `the metadata of ${this.#issuer} ${problem}`, details);
  }
}
