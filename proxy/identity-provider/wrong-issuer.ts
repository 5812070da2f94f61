import { ClientError } from 'openid-client';

import { isRecord } from '../../shared/runtime/is-record.ts';
import { member } from '../json/json-object.ts';

/** The member `code` of an error about a member of the metadata that is not the expected one. */
const COMPARISON_FAILED = 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED';

const MAX_LENGTH = 256;

/** The metadata of a provider name another issuer than the settings (OpenID Connect Discovery, section 4.3). */
export class WrongIssuerError extends Error {
  override readonly name = 'WrongIssuerError';
}

/** Returns the error that says which issuer was expected and found; undefined if discovery failed otherwise. */
export function wrongIssuer(error: unknown, expected: string): WrongIssuerError | undefined {
  if (!(error instanceof ClientError) || error.code !== COMPARISON_FAILED) return undefined;
  const { cause } = error;
  const metadata = isRecord(cause) ? member(cause, 'body') : undefined;
  const found = isRecord(metadata) ? member(metadata, 'issuer') : undefined;
  if (typeof found !== 'string') return undefined;
  const message = `expected the issuer ${shown(expected)}, and found ${shown(found)}`;
  return new WrongIssuerError(message);
}

/** Without what an issuer does not have: user, password, query and fragment. */
function shown(issuer: string): string {
  const { protocol, host, pathname } = URL.parse(issuer) ?? {};
  if (protocol === undefined) return 'a text that is no URL';
  return `${protocol}//${String(host)}${String(pathname)}`.slice(0, MAX_LENGTH);
}
