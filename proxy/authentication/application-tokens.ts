import { randomBytes } from 'node:crypto';

import { formatGatewayToken, readGatewayToken } from '../crypto/gateway-token.ts';
import { isTuple } from '../crypto/is-tuple.ts';
import type { Sealer } from '../crypto/sealer.ts';

/** A token that was sealed for a client does not open as one of an application, and the reverse. */
const CONTEXT = 'application-token';

/** Far above the length of any issued token; a longer one is refused without decoding it. */
const MAX_TOKEN_LENGTH = 4096;

const TOKEN_ID_BYTES = 16;

/** Claims of an external token (TE) for the backend of an application. Times are milliseconds since the epoch. */
export interface ApplicationTokenClaims {
  readonly gatewayId: string;
  /** Where the application is: the origin of its `mcp.client` route. */
  readonly origin: string;
  /** The session of the browser that used the application. */
  readonly sessionId: string;
  /** The sign-in of that session. It decides for how long there is a user. */
  readonly signInId: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** Names the token in logs and revocations. */
  readonly tokenId: string;
}

/**
 * Issues and opens the external tokens of applications, without I/O.
 *
 * Such a token is good for every MCP server route that its user may use, and for the list of these at its own
 * origin (specification: MCP-enabled application).
 */
export class ApplicationTokens {
  readonly #sealer: Sealer;

  constructor(sealer: Sealer) {
    this.#sealer = sealer;
  }

  /** Issues a token with these claims and a token id of its own. */
  issue(claims: Omit<ApplicationTokenClaims, 'tokenId'>): string {
    const { gatewayId, origin, sessionId, signInId, issuedAt, expiresAt } = claims;
    const tokenId = randomBytes(TOKEN_ID_BYTES).toString('base64url');
    const sealed: SealedClaims = [
      ...([gatewayId, origin, sessionId, signInId, tokenId] as const),
      ...([issuedAt, expiresAt] as const),
    ];
    return formatGatewayToken('external', this.#sealer.seal(JSON.stringify(sealed), CONTEXT));
  }

  /** Returns the claims of a token of an application, expired or not; null for any other text. */
  open(token: string): ApplicationTokenClaims | null {
    if (token.length > MAX_TOKEN_LENGTH) return null;
    const value = readGatewayToken('external', token);
    const text = value === null ? null : this.#sealer.open(value, CONTEXT);
    const sealed: unknown = text === null ? null : JSON.parse(text);
    if (!isSealedClaims(sealed)) return null;
    const [gatewayId, origin, sessionId, signInId, tokenId, issuedAt, expiresAt] = sealed;
    return { gatewayId, origin, sessionId, signInId, tokenId, issuedAt, expiresAt };
  }
}

/** The sealed form. An array keeps the token short: every request carries it in a header. */
type SealedClaims = readonly [
  gatewayId: string,
  origin: string,
  sessionId: string,
  signInId: string,
  tokenId: string,
  issuedAt: number,
  expiresAt: number,
];

const SEALED_TYPES = [...Array<'string'>(5).fill('string'), 'number', 'number'];

function isSealedClaims(value: unknown): value is SealedClaims {
  return isTuple(value, SEALED_TYPES);
}
