import type { KubernetesObject } from '../../controller/kubernetes/objects.ts';
import { isRecord } from '../../shared/runtime/is-record.ts';

/** A certificate in use for TLS with clients. */
export interface CertificateFacts {
  /** `namespace/name` of its Secret. */
  readonly secret: string;
  /** RFC 3339. */
  readonly notAfter: string;
}

/** Returns the certificates that the status of an object shows. Accepts any stored status. */
export function certificatesIn({ status }: KubernetesObject): readonly CertificateFacts[] {
  const listed = isRecord(status) ? status['certificates'] : undefined;
  return Array.isArray(listed) ? listed.flatMap(certificateOf) : [];
}

/** Returns each certificate once, the one that expires first before the others. */
export function byExpiry(all: readonly CertificateFacts[]): readonly CertificateFacts[] {
  const bySecret = new Map(all.map((certificate) => [certificate.secret, certificate]));
  return [...bySecret.values()].sort((a, b) => Date.parse(a.notAfter) - Date.parse(b.notAfter));
}

function certificateOf(value: unknown): readonly CertificateFacts[] {
  if (!isRecord(value)) return [];
  const { secret, notAfter } = value;
  if (typeof secret !== 'string' || typeof notAfter !== 'string') return [];
  return Number.isNaN(Date.parse(notAfter)) ? [] : [{ secret, notAfter }];
}
