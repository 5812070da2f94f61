import type { CertificateValidity } from '../../controller/compile/certificates/certificate-validity.ts';
import { certificatesState } from '../../controller/status/certificates-state.ts';
import { every, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';

/** How often all certificates are checked: they expire without any change. */
const CHECK_MS = 60 * 60 * 1000;
const MS_PER_SECOND = 1000;

/** Options of a `CertificateExpiryLog`. */
export interface CertificateExpiryLogOptions {
  readonly logger: Logger;
  readonly clock: Clock;
  readonly wallTime: () => Date;
}

/** Logs once that a certificate in use expires soon, and once that it has expired, as Events do in a cluster. */
export class CertificateExpiryLog implements Disposable {
  readonly #options: CertificateExpiryLogOptions;
  readonly #timer: Disposable;
  #certificates: readonly CertificateValidity[] = [];
  /** What was logged of the certificates in use. */
  #logged: ReadonlySet<string> = new Set();

  constructor(options: CertificateExpiryLogOptions) {
    this.#options = options;
    this.#timer = every(options.clock, CHECK_MS, () => this.#check());
  }

  /** Watches these certificates from now on, and no others. */
  watch(certificates: readonly CertificateValidity[]): void {
    this.#certificates = certificates;
    this.#check();
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }

  #check(): void {
    const now = this.#options.wallTime();
    const found = this.#certificates.flatMap((certificate) => {
      const reason = certificatesState([certificate], now)?.reason;
      const isExpired = reason === 'CertificateExpired';
      if (!isExpired && reason !== 'CertificateExpiresSoon') return [];
      const { secret, notAfter } = certificate;
      const validTo = new Date(notAfter * MS_PER_SECOND).toISOString();
      return [{ key: `${secret} ${validTo} ${reason}`, isExpired, fields: { secret, validTo } }];
    });
    for (const { isExpired, fields } of found.filter(({ key }) => !this.#logged.has(key))) {
      const { logger } = this.#options;
      if (isExpired) logger.warn('a certificate has expired', fields);
      else logger.warn('a certificate expires soon', fields);
    }
    this.#logged = new Set(found.map(({ key }) => key));
  }
}
