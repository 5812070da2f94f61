import type { HandshakeOutcome } from '../../http/handshake-outcome.ts';

const NOTHING_IN_COMMON: ReadonlySet<string> = new Set([
  'ERR_SSL_NO_APPLICATION_PROTOCOL',
  'ERR_SSL_NO_SHARED_CIPHER',
  'ERR_SSL_NO_SHARED_GROUP',
  'ERR_SSL_NO_SUITABLE_KEY_SHARE',
  'ERR_SSL_NO_SUITABLE_SIGNATURE_ALGORITHM',
  'ERR_SSL_UNSUPPORTED_PROTOCOL',
  'ERR_SSL_WRONG_VERSION_NUMBER',
]);

/** Returns how a handshake ended, from the error that Node reports. */
export function outcomeOfError({ code = '' }: NodeJS.ErrnoException): HandshakeOutcome {
  if (NOTHING_IN_COMMON.has(code)) return 'nothing-in-common';
  if (code.includes('_ALERT_')) return 'refused-by-client';
  return code.startsWith('ERR_SSL_') ? 'malformed' : 'client-left';
}
