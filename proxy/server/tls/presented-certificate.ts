import type { X509Certificate } from 'node:crypto';

import { isForHost } from '../../crypto/leaf-certificate.ts';
import type { ConnectionCertificate } from '../../http/connection-facts.ts';

/**
 * The certificate that a client got; of several, it is unknown which. Clients ask for one host all the time, so the
 * last answer is kept.
 */
export class PresentedCertificate implements ConnectionCertificate {
  readonly #leaves: readonly X509Certificate[];
  #authority = '';
  #isCovered = false;

  constructor(leaves: readonly X509Certificate[]) {
    this.#leaves = leaves;
  }

  covers(authority: string): boolean {
    if (authority === this.#authority) return this.#isCovered;
    this.#authority = authority;
    const host = authority.replace(/:\d+$/, '');
    this.#isCovered = this.#leaves.every((leaf) => isForHost(leaf, host));
    return this.#isCovered;
  }
}
