import { formatGatewayToken, readGatewayToken } from '../../crypto/gateway-token.ts';
import { isTuple } from '../../crypto/is-tuple.ts';
import type { Sealer } from '../../crypto/sealer.ts';
import { hashToken, randomToken } from '../../crypto/tokens.ts';
import type { RefreshTokenReference } from '../../records/refresh-token-reference.ts';

const CONTEXT = 'refresh-token';

/** Far above any token made here; a longer one is not even decoded. */
const MAX_TOKEN_LENGTH = 1024;

/** A token that was just made, for its holder and for the store. */
export interface IssuedRefreshToken {
  readonly token: string;
  readonly reference: RefreshTokenReference;
}

/**
 * Makes and opens refresh tokens, without I/O.
 *
 * A token says which grant it is of and how many came before it. It is sealed, so who can write to
 * the store makes no token, and a replay is known for what it is however old the token. Whether it is
 * the one that counts is for the store to say.
 */
export class RefreshTokens {
  readonly #sealer: Sealer;

  constructor(sealer: Sealer) {
    this.#sealer = sealer;
  }

  firstOf(grantId: string): IssuedRefreshToken {
    return this.#issue(grantId, 0);
  }

  successorOf({ grantId, generation }: RefreshTokenReference): IssuedRefreshToken {
    return this.#issue(grantId, generation + 1);
  }

  /**
   * Null for everything that was not made here.
   *
   * What was sealed with a key that this proxy lacks cannot be told from what somebody made up, nor
   * from a token that outlived its key. So it is not answered with 503: the client of such a token
   * would come again for ever instead of logging in.
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

  #issue(grantId: string, generation: number): IssuedRefreshToken {
    const sealed: SealedToken = [grantId, generation, randomToken()];
    const token = formatGatewayToken('refresh', this.#sealer.seal(JSON.stringify(sealed), CONTEXT));
    return { token, reference: { grantId, generation, hash: hashToken(token) } };
  }
}

/** The random part is what the hash in the store is of, for holders of the sealing key as well. */
type SealedToken = readonly [grantId: string, generation: number, random: string];

const SEALED_TYPES = ['string', 'number', 'string'];

function isSealedToken(value: unknown): value is SealedToken {
  return isTuple(value, SEALED_TYPES);
}
