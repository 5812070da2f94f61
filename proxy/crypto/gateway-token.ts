import { GATEWAY_TOKEN_PREFIXES as PREFIXES } from '../../shared/runtime/gateway-token-prefixes.ts';
import type { Sealed } from './sealer.ts';

/** Kinds of tokens that this gateway issues and that only it accepts. */
export type GatewayTokenKind = keyof typeof PREFIXES;

/** Anywhere in the value: `Authorization` may hold several credentials, and proxies join fields. */
const GATEWAY_TOKEN = new RegExp(`(?:^|[\\s,])(?:${Object.values(PREFIXES).join('|')})`);

/** Writes a sealed value as a token of this gateway. */
export function formatGatewayToken(kind: GatewayTokenKind, sealed: Sealed): string {
  return PREFIXES[kind] + sealed;
}

/** Returns the sealed value of a token of this kind; null if the value is not one. */
export function readGatewayToken(kind: GatewayTokenKind, token: string): string | null {
  return isGatewayToken(kind, token) ? token.slice(PREFIXES[kind].length) : null;
}

/** Returns whether a value claims to be a token of this kind. */
export function isGatewayToken(kind: GatewayTokenKind, token: string): boolean {
  return token.startsWith(PREFIXES[kind]);
}

/**
 * Returns whether an `Authorization` value contains a token of this gateway.
 *
 * Attack: an upstream that receives such a token could act as the caller on its route.
 */
export function holdsGatewayToken(authorization: string): boolean {
  return GATEWAY_TOKEN.test(authorization);
}
