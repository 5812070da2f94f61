import { isTlsSecret, type SecretValues } from '../../validate/secret.ts';
import type { Secrets } from '../resources.ts';
import type { Problem } from '../../validate/problem.ts';
import {
  readCertificatePair,
  type ReadCertificate,
  type UsableCertificate,
} from './read-certificate.ts';

/** The certificate of a Secret, and what is wrong with the Secret. */
export type FoundCertificate =
  | { readonly kind: 'found'; readonly certificate: UsableCertificate }
  | { readonly kind: 'missing' }
  | {
      readonly kind: 'problem';
      readonly problem: Omit<Problem, 'path'>;
      /** What it had before; undefined if that is not known. */
      readonly lastGood: UsableCertificate | undefined;
    };

/**
 * The certificates in Secrets. Each is read once, however many routes name it.
 *
 * The last good certificate of a Secret that is broken now is kept, as far as this process has seen it. A Secret that
 * is deleted takes its certificate along.
 */
export class CertificateDirectory {
  readonly #secrets: Secrets;
  readonly #read = new WeakMap<object, ReadCertificate>();
  readonly #lastGood = new Map<string, UsableCertificate>();

  constructor(secrets: Secrets) {
    this.#secrets = secrets;
  }

  /** Finds the certificate in a Secret, by `namespace/name`. */
  find(name: string): FoundCertificate {
    const secret = this.#secrets.get(name);
    if (secret === undefined) {
      this.#lastGood.delete(name);
      return { kind: 'missing' };
    }
    const read = this.#readOnce(secret);
    if (read.kind === 'usable') {
      this.#lastGood.set(name, read.certificate);
      return { kind: 'found', certificate: read.certificate };
    }
    const message = `Secret ${name} cannot be used as a certificate: ${read.why}`;
    const lastGood = this.#lastGood.get(name);
    return { kind: 'problem', problem: { reason: 'InvalidSecret', message }, lastGood };
  }

  /** The certificate to serve of a Secret: its own, or the last good one. */
  served(name: string): UsableCertificate | undefined {
    const found = this.find(name);
    if (found.kind === 'missing') return undefined;
    return found.kind === 'found' ? found.certificate : found.lastGood;
  }

  #readOnce(secret: SecretValues): ReadCertificate {
    if (!isTlsSecret(secret)) return { kind: 'unusable', why: 'its type is not kubernetes.io/tls' };
    const known = this.#read.get(secret) ?? readCertificatePair(secret);
    this.#read.set(secret, known);
    return known;
  }
}
