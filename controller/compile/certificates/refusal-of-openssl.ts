import { createSecureContext } from 'node:tls';

import { isRecord } from '../../../shared/runtime/is-record.ts';

/**
 * Returns why OpenSSL would not serve a certificate, such as that of an authority with a weak key; undefined if it
 * would. Proxies reject what it refuses. Its reasons are constants, so that no part of the key is in them.
 */
export function refusalOf(cert: string, key: string): string | undefined {
  try {
    createSecureContext({ cert, key });
    return undefined;
  } catch (error) {
    const reason = isRecord(error) ? error['reason'] : undefined;
    return `OpenSSL refuses to serve it${typeof reason === 'string' ? ` (${reason})` : ''}`;
  }
}
