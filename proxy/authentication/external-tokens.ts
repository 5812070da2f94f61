import { randomBytes } from 'node:crypto';

import { formatGatewayToken, readGatewayToken } from '../crypto/gateway-token.ts';
import { isTuple } from '../crypto/is-tuple.ts';
import type { Sealer } from '../crypto/sealer.ts';

const CONTEXT = 'external-token';

/** Far above the length of any issued token; a longer one is refused without decoding it. */
const MAX_TOKEN_LENGTH = 4096;

const TOKEN_ID_BYTES = 16;

/** Claims of an external token (TE). Times are milliseconds since the epoch. */
export interface ExternalTokenClaims {
  readonly gatewayId: string;
  readonly issuer: string;
  readonly sessionId: string;
  readonly grantId: string;
  readonly clientId: string;
  /** Resource identifier of the one route it is valid for (RFC 8707). */
  readonly audience: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** Identifies the token when it alone is revoked. */
  readonly tokenId: string;
}

/** Issues and opens external tokens, without I/O. They are sealed: only the gateway can read them. */
export class ExternalTokens {
  readonly #sealer: Sealer;

  constructor(sealer: Sealer) {
    this.#sealer = sealer;
  }

  /** Issues a token with these claims and a token id of its own. */
  issue(claims: Omit<ExternalTokenClaims, 'tokenId'>): string {
    const tokenId = randomBytes(TOKEN_ID_BYTES).toString('base64url');
    return formatGatewayToken(
      'external',
      this.#sealer.seal(serialize({ ...claims, tokenId }), CONTEXT),
    );
  }

  /** Returns whether a text looks like a token of a sealing key that this process does not have. */
  isOfUnknownKey(token: string): boolean {
    if (token.length > MAX_TOKEN_LENGTH) return false;
    const value = readGatewayToken('external', token);
    return value !== null && this.#sealer.isOfUnknownKey(value);
  }

  /** Returns the claims of a token issued by this gateway, expired or not; null for any other text. */
  open(token: string): ExternalTokenClaims | null {
    if (token.length > MAX_TOKEN_LENGTH) return null;
    const value = readGatewayToken('external', token);
    const text = value === null ? null : this.#sealer.open(value, CONTEXT);
    return text === null ? null : parse(text);
  }
}

/** The sealed form. An array keeps the token short: every request carries it in a header. */
type SealedClaims = readonly [
  gatewayId: string,
  issuer: string,
  sessionId: string,
  grantId: string,
  clientId: string,
  audience: string,
  tokenId: string,
  issuedAt: number,
  expiresAt: number,
];

const SEALED_TYPES = [...Array<'string'>(7).fill('string'), 'number', 'number'];

function serialize(claims: ExternalTokenClaims): string {
  const sealed: SealedClaims = [
    claims.gatewayId,
    claims.issuer,
    claims.sessionId,
    claims.grantId,
    claims.clientId,
    claims.audience,
    claims.tokenId,
    claims.issuedAt,
    claims.expiresAt,
  ];
  return JSON.stringify(sealed);
}

function parse(text: string): ExternalTokenClaims | null {
  const sealed: unknown = JSON.parse(text);
  if (!isSealedClaims(sealed)) return null;
  const [gatewayId, issuer, sessionId, grantId, clientId, audience, ...rest] = sealed;
  const [tokenId, issuedAt, expiresAt] = rest;
  const names = { gatewayId, issuer, sessionId, grantId, clientId, audience };
  return { ...names, tokenId, issuedAt, expiresAt };
}

function isSealedClaims(value: unknown): value is SealedClaims {
  return isTuple(value, SEALED_TYPES);
}
