import { networksOf } from '../http/network-of.ts';

/** How many connections clients may have at a time; 0 is no limit. */
export interface ConnectionLimits {
  readonly total: number;
  /** Per IPv4 address, or /64 network of IPv6. */
  readonly perClient: number;
}

/** Why a connection was refused. */
export interface ConnectionRefusal {
  readonly reason:
    'too-many-connections' | 'too-many-connections-of-client' | 'malformed-proxy-header';
  /** Address or network of the client. */
  readonly client: string;
}

/** Options of a `ConnectionCounter`. */
interface CounterOptions {
  /** Returns whether an address is one of a server in front, which has the connections of many clients. */
  isExempt(address: string): boolean;
  onRefused(refusal: ConnectionRefusal): void;
}

/**
 * Counts the connections of a process. Attack: each connection holds memory and a file descriptor, so that
 * one host without credentials could keep all others out.
 */
export class ConnectionCounter {
  readonly #limits: ConnectionLimits;
  readonly #options: CounterOptions;
  readonly #ofClients = new Map<string, number>();
  #total = 0;

  constructor(limits: ConnectionLimits, options: CounterOptions) {
    this.#limits = limits;
    this.#options = options;
  }

  /** Counts a connection of an address; false if it must be refused. Every `true` needs one `release`. */
  admit(address: string): boolean {
    const { network: client } = networksOf(address);
    if (isReached(this.#total, this.#limits.total)) {
      this.#options.onRefused({ reason: 'too-many-connections', client });
      return false;
    }
    const ofClient = this.#ofClients.get(client) ?? 0;
    if (isReached(ofClient, this.#limits.perClient) && !this.#options.isExempt(address)) {
      this.#options.onRefused({ reason: 'too-many-connections-of-client', client });
      return false;
    }
    this.#total += 1;
    this.#ofClients.set(client, ofClient + 1);
    return true;
  }

  /** Ends a connection of an address that was admitted. */
  release(address: string): void {
    const { network: client } = networksOf(address);
    const left = (this.#ofClients.get(client) ?? 0) - 1;
    this.#total -= 1;
    if (left > 0) this.#ofClients.set(client, left);
    else this.#ofClients.delete(client);
  }
}

function isReached(count: number, limit: number): boolean {
  return limit > 0 && count >= limit;
}
