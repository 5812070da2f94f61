import { UnavailableError } from '../../../proxy/errors/unavailable-error.ts';
import type { InternalToken } from '../../../proxy/records/internal-token.ts';

/** What an authorization server answers to a refresh. */
export type RefreshOutcome = 'refreshed' | 'refused' | 'unavailable';

type Found = InternalToken | 'not-connected';

/** The internal tokens of one user, as the contract of `InternalTokens` says, without a server. */
export class ScriptedTokens {
  #made = 0;
  #token: InternalToken | undefined;
  #isExpired = false;
  /** Outcomes of the refreshes to come; the last one repeats. */
  refreshes: RefreshOutcome[] = [];
  /** Number of refreshes so far. */
  refreshed = 0;
  /** Scopes that users were asked for. */
  readonly asked: (readonly string[])[] = [];
  isAskedLately = false;
  /** Whether tokens are found later, as when the cache is cold. */
  isCold = false;

  /** The token that is used now; undefined if the user is not connected. */
  get token(): InternalToken | undefined {
    return this.#token;
  }

  connect(): InternalToken {
    this.#isExpired = false;
    return (this.#token = this.#make());
  }

  expire(): void {
    this.#isExpired = true;
  }

  disconnect(): void {
    this.#token = undefined;
  }

  tokenFor(): Found | Promise<Found> {
    const token = this.#token;
    if (token === undefined)
      return this.isCold ? Promise.resolve('not-connected') : 'not-connected';
    if (this.#isExpired) return this.#refresh();
    return this.isCold ? Promise.resolve(token) : token;
  }

  async replacementOf(token: InternalToken): Promise<Found> {
    if (this.#token === undefined) return 'not-connected';
    return this.#token === token ? this.#refresh() : this.#token;
  }

  drop(token: InternalToken): Promise<void> {
    if (this.#token === token) this.#token = undefined;
    return Promise.resolve();
  }

  requireScopes(_caller: unknown, _route: unknown, scopes: readonly string[]) {
    if (this.isAskedLately) return Promise.resolve('asked-lately' as const);
    this.isAskedLately = true;
    this.asked.push(scopes);
    return Promise.resolve('asked' as const);
  }

  async #refresh(): Promise<Found> {
    this.refreshed += 1;
    const outcome = this.refreshes.length > 1 ? this.refreshes.shift() : this.refreshes[0];
    await new Promise((resolve) => setImmediate(resolve));
    if (outcome === 'unavailable') {
      throw new UnavailableError('upstream-authorization-unavailable', 'down');
    }
    if (outcome === 'refused') {
      this.#token = undefined;
      return 'not-connected';
    }
    return this.connect();
  }

  #make(): InternalToken {
    this.#made += 1;
    const accessToken = `internal-${String(this.#made)}`;
    return {
      ...{ accessToken, issuedAt: 0, issuer: 'https://as.test', resource: 'https://mcp.test' },
      ...{ clientId: 'gatehouse', redirectUri: 'https://mcp.test/callback', scopes: ['read'] },
    };
  }
}
