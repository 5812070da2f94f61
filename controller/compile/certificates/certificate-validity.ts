import type { UsableCertificate } from './read-certificate.ts';

/** When a certificate in use is valid, in seconds since the epoch. */
export interface CertificateValidity {
  /** `namespace/name` of its Secret. */
  readonly secret: string;
  readonly notBefore: number;
  readonly notAfter: number;
}

/** Returns `namespace/name` of the Secrets of certificates. */
export function secretNamesOf(all: readonly CertificateValidity[]): readonly string[] {
  return all.map(({ secret }) => secret);
}

/** Returns when the certificate in a Secret is valid. */
export function validityOf(
  secret: string,
  { notBefore, content: { notAfter } }: UsableCertificate,
): CertificateValidity {
  return { secret, notBefore, notAfter };
}
