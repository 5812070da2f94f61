import { ExpiringMap } from '../cache/expiring-map.ts';
import { TooManyRequestsError } from '../errors/denial-errors.ts';
import { UnavailableError } from '../errors/unavailable-error.ts';
import type { Networks } from '../http/network-of.ts';

const SECOND = 1000;

/** Refused tokens of one network at one provider, within a window, before no more are verified. */
const MAX_REFUSED = 60;

/** The same of one end site, which may have many networks. */
const MAX_REFUSED_OF_END_SITE = 4 * MAX_REFUSED;

const WINDOW_SECONDS = 60;

/** Tokens of one use that are verified at the same time, from all networks. One gets at most half. */
const MAX_AT_ONCE = 256;

const MAX_NETWORKS = 20_000;

interface Window {
  refused: number;
  readonly endsAt: number;
}

/**
 * Bounds what bad tokens cost an identity provider. Each proxy counts for itself, so that tokens can be
 * verified while the stores are unavailable.
 */
export class VerificationLimit {
  readonly #now: () => number;
  /** By use and network or end site. */
  readonly #windows: ExpiringMap<Window>;
  /** The number of verifications under way, by use, and by use and end site. */
  readonly #underWay = new Map<string, number>();

  /** `now` returns milliseconds since the epoch. */
  constructor(now: () => number) {
    this.#now = now;
    this.#windows = new ExpiringMap(now, MAX_NETWORKS);
  }

  /**
   * Runs a verification for a client. Rejects with a `TooManyRequestsError` if too many tokens of its
   * networks were refused, and with an `UnavailableError` if too many verifications are under way.
   */
  async run<Result>(
    use: string,
    { network, endSite }: Networks,
    verify: () => Promise<Result>,
  ): Promise<Result> {
    this.#refuseAbove(MAX_REFUSED, nameOf(use, network));
    this.#refuseAbove(MAX_REFUSED_OF_END_SITE, nameOf(use, endSite));
    const ofSite = nameOf(use, endSite);
    const underWay = this.#underWay.get(use) ?? 0;
    // Attack: one client takes all places while the provider is slow. So it leaves as many as it has.
    if ((this.#underWay.get(ofSite) ?? 0) >= MAX_AT_ONCE - underWay) {
      throw new UnavailableError('verification-busy', 'too many tokens are verified at the moment');
    }
    this.#countUnderWay([use, ofSite], 1);
    try {
      return await verify();
    } finally {
      this.#countUnderWay([use, ofSite], -1);
    }
  }

  #countUnderWay(names: readonly string[], change: number): void {
    for (const name of names) {
      const count = (this.#underWay.get(name) ?? 0) + change;
      if (count === 0) this.#underWay.delete(name);
      else this.#underWay.set(name, count);
    }
  }

  /** Counts a refused token of a client. */
  countRefusal(use: string, { network, endSite }: Networks): void {
    this.#count(nameOf(use, network));
    if (endSite !== network) this.#count(nameOf(use, endSite));
  }

  #refuseAbove(limit: number, name: string): void {
    const window = this.#windows.get(name);
    if (window === null || window.refused < limit) return;
    throw new TooManyRequestsError(Math.ceil((window.endsAt - this.#now()) / SECOND));
  }

  #count(name: string): void {
    const window = this.#windows.get(name);
    if (window !== null) window.refused += 1;
    else {
      const endsAt = this.#now() + WINDOW_SECONDS * SECOND;
      this.#windows.setUntil(name, { refused: 1, endsAt }, endsAt);
    }
  }
}

/** Addresses of networks have no space. */
function nameOf(use: string, network: string): string {
  return `${network} ${use}`;
}
