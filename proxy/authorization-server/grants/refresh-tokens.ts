import { formatGatewayToken, readGatewayToken } from '../../crypto/gateway-token.ts';
import { isTuple } from '../../crypto/is-tuple.ts';
import type { Sealer } from '../../crypto/sealer.ts';
import { hashToken, randomToken } from '../../crypto/tokens.ts';
import type { RefreshTokenReference } from '../../records/refresh-token-reference.ts';

const CONTEXT = 'refresh-token';

/** Far above the length of any issued token; a longer one is refused without decoding it. */
const MAX_TOKEN_LENGTH = 1024;

/** A token that was just issued: the text for its holder, and the reference for the store. */
export interface IssuedRefreshToken {
  readonly token: string;
  readonly reference: RefreshTokenReference;
}

/**
 * Issues and opens refresh tokens, without I/O.
 *
 * A token contains its grant and how many tokens came before it. It is sealed: an attacker who can write
 * to the store cannot make a token, and a replay is recognised however old the token is. The store knows
 * which token of a grant is the current one.
 */
export class RefreshTokens {
  readonly #sealer: Sealer;

  constructor(sealer: Sealer) {
    this.#sealer = sealer;
  }

  /** Issues the first token of a grant. */
  firstOf(grantId: string): IssuedRefreshToken {
    return this.#issue(grantId, 0);
  }

  /** Issues the token that replaces another. */
  successorOf({ grantId, generation }: RefreshTokenReference): IssuedRefreshToken {
    return this.#issue(grantId, generation + 1);
  }

  /**
   * Returns what a token contains; null for any text that was not issued by this gateway.
   *
   * A token that was sealed with a key that this proxy lacks looks like a forged one, or like one that
   * outlived its key. Therefore it causes no 503: its client would retry for ever instead of starting a
   * sign-in.
   */
  open(token: string): RefreshTokenReference | null {
    if (token.length > MAX_TOKEN_LENGTH) return null;
    const value = readGatewayToken('refresh', token);
    const text = value === null ? null : this.#sealer.open(value, CONTEXT);
    const sealed: unknown = text === null ? null : JSON.parse(text);
    if (!isSealedToken(sealed)) return null;
    const [grantId, generation] = sealed;
    return { grantId, generation, hash: hashToken(token) };
  }

  /** Returns whether a text looks like a token of a sealing key that this process does not have. */
  isOfUnknownKey(token: string): boolean {
    if (token.length > MAX_TOKEN_LENGTH) return false;
    const value = readGatewayToken('refresh', token);
    return value !== null && this.#sealer.isOfUnknownKey(value);
  }

  #issue(grantId: string, generation: number): IssuedRefreshToken {
    const sealed: SealedToken = [grantId, generation, randomToken()];
    const token = formatGatewayToken('refresh', this.#sealer.seal(JSON.stringify(sealed), CONTEXT));
    return { token, reference: { grantId, generation, hash: hashToken(token) } };
  }
}

/** The random part makes the hash unpredictable, for holders of the sealing key as well. */
type SealedToken = readonly [grantId: string, generation: number, random: string];

const SEALED_TYPES = ['string', 'number', 'string'];

function isSealedToken(value: unknown): value is SealedToken {
  return isTuple(value, SEALED_TYPES);
}
