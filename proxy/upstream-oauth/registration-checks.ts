import { ExpiringMap } from '../cache/expiring-map.ts';
import type { UpstreamServer } from './upstream-authorization.ts';

/** How long a server that knew the gateway is not asked again. */
const KNOWN_SECONDS = 10 * 60;

const MAX_CLIENTS = 1000;

/** Options of `RegistrationChecks`. */
export interface RegistrationChecksOptions {
  /** Asks a server whether it still knows the gateway. */
  readonly knowsClient: (server: UpstreamServer) => Promise<boolean>;
  readonly now: () => number;
}

/**
 * Finds registrations that their server has forgotten, before a user is sent there: the server would show an
 * error, and the user would never come back.
 */
export class RegistrationChecks {
  readonly #options: RegistrationChecksOptions;
  readonly #known: ExpiringMap<true>;

  constructor(options: RegistrationChecksOptions) {
    this.#options = options;
    this.#known = new ExpiringMap(options.now, MAX_CLIENTS);
  }

  /** Returns whether the server does not know the gateway any more. Only registrations can be forgotten. */
  async isForgotten(server: UpstreamServer): Promise<boolean> {
    const { knowsClient, now } = this.#options;
    const { id, registeredAt = Infinity } = server.client;
    if (now() - registeredAt < KNOWN_SECONDS * 1000) return false;
    const key = `${server.issuer} ${id}`;
    if (this.#known.get(key) !== null) return false;
    if (!(await knowsClient(server))) return true;
    this.#known.set(key, true, KNOWN_SECONDS);
    return false;
  }
}
