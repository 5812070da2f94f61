import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';

import type { CompiledCertificate } from '../../shared/snapshot/snapshot.ts';
import { oncePerObject } from '../cache/once-per-object.ts';

/** Returns the first certificate of a chain: that of the server. Throws if it cannot be read. */
export const leafCertificate = oncePerObject(
  ({ certificate }: Pick<CompiledCertificate, 'certificate'>) => new X509Certificate(certificate),
);

/**
 * Returns whether a certificate is for a host: a name, or an address in brackets or without. It decides as
 * clients do (RFC 9525): by the subject alternative names alone, and a wildcard stands for one label.
 */
export function isForHost(leaf: X509Certificate, host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, '$1');
  if (isIP(address) !== 0) return leaf.checkIP(address) !== undefined;
  return leaf.checkHost(host, NAMES_ONLY) !== undefined;
}

const NAMES_ONLY = { subject: 'never', partialWildcards: false } as const;
