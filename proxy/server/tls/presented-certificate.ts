import type { X509Certificate } from 'node:crypto';

import { isForHost } from '../../crypto/leaf-certificate.ts';
import type { ConnectionCertificate } from '../../http/connection-facts.ts';

/** The certificate that a client got. Clients ask for one host all the time, so the last answer is kept. */
export class PresentedCertificate implements ConnectionCertificate {
  readonly #leaf: X509Certificate;
  #authority = '';
  #isCovered = false;

  constructor(leaf: X509Certificate) {
    this.#leaf = leaf;
  }

  covers(authority: string): boolean {
    if (authority === this.#authority) return this.#isCovered;
    this.#authority = authority;
    this.#isCovered = isForHost(this.#leaf, authority.replace(/:\d+$/, ''));
    return this.#isCovered;
  }
}
