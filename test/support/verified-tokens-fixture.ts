import type { TokenUse } from '../../proxy/authentication/accepted-credentials.ts';
import type { TokenCaller } from '../../proxy/authentication/caller.ts';
import { VerifiedTokens } from '../../proxy/authentication/verified-tokens.ts';
import { GatewayError } from '../../proxy/errors/gateway-error.ts';
import { UnavailableError } from '../../proxy/errors/unavailable-error.ts';
import {
  TokenRefusedError,
  type TokenRefusal,
} from '../../proxy/token-verification/token-refused-error.ts';
import type { VerifiedToken } from '../../proxy/token-verification/verified-token.ts';
import { buildConfiguration } from './build-configuration.ts';
import { claimedIdentity } from './claimed-identity.ts';
import { AN_IDENTITY_PROVIDER, aSnapshot } from './compiled-resources.ts';
import { compiledSettings } from './compiled-settings.ts';

/** The time at which a fixture begins. */
export const TOKENS_BEGIN = Date.UTC(2026, 0, 1);

/** The use of a token about which no provider is asked. */
export const JWT_USE: TokenUse = { format: 'jwt', key: 'jwt' };
/** The use of a token about which its provider is asked. */
export const OPAQUE_USE: TokenUse = { format: 'idp_access_token', provider: 'idp', key: 'opaque' };

/** A token that is accepted until `words` says something else. */
export const KNOWN_TOKEN = 'a-token';

/** What the provider says about a token: its user, why it refuses it, or nothing because it is down. */
type Word = Partial<VerifiedToken> | TokenRefusal | 'down';

/** The tokens of a gateway whose verifier says what a test tells it. */
export interface VerifiedTokensFixture {
  readonly words: Map<string, Word>;
  readonly clock: { now: number };
  /** Tokens that were verified, in order. */
  readonly asked: string[];
  /** Holds verifications until the returned function is called. */
  readonly hold: () => () => void;
  /** Returns the caller, and fails if that took a promise. */
  readonly known: (token?: string, use?: TokenUse) => TokenCaller;
  /** Returns the subject of the caller, or the reason of the refusal. */
  readonly verdict: (token?: string, use?: TokenUse, from?: string) => Promise<string>;
  /** Serves these settings from now on; without `groupsClaim`, with the same providers. */
  readonly configure: (opaqueTokenSeconds: number, groupsClaim?: string) => void;
}

type Configured = Parameters<VerifiedTokens['callerOf']>[2]['configuration'];

function configured(opaqueTokenSeconds: number, groupsClaim: string): Configured {
  const provider = { ...AN_IDENTITY_PROVIDER, groupsClaim: [groupsClaim] };
  return buildConfiguration(aSnapshot(compiledSettings({ opaqueTokenSeconds }), provider));
}

/** Returns tokens that nobody has sent yet. */
export function verifiedTokensFixture(): VerifiedTokensFixture {
  const clock = { now: TOKENS_BEGIN };
  const words = new Map<string, Word>([[KNOWN_TOKEN, {}]]);
  const asked: string[] = [];
  let held: Promise<unknown> | undefined;
  const verify = async (token: string): Promise<VerifiedToken> => {
    asked.push(token);
    await held;
    const word = words.get(token) ?? 'unknown-issuer';
    if (word === 'down') throw new UnavailableError('identity-provider-unavailable', 'down');
    if (typeof word === 'string') throw new TokenRefusedError(word);
    const identity = claimedIdentity({ sub: `user of ${token}` });
    return { identity, expiresAt: Infinity, countsUntil: Infinity, isOpaque: false, ...word };
  };
  const tokens = new VerifiedTokens({ verifier: { verify }, now: () => clock.now });
  let configuration = configured(60, 'groups');
  const callerOf = (token: string, use: TokenUse, remoteAddress: string) =>
    tokens.callerOf(token, use, { configuration, remoteAddress });
  return {
    words,
    clock,
    asked,
    hold() {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      held = promise;
      return () => {
        held = undefined;
        resolve(undefined);
      };
    },
    known(token = KNOWN_TOKEN, use = JWT_USE) {
      const caller = callerOf(token, use, '192.0.2.1');
      if (caller instanceof Promise) throw new Error('the token is not known');
      return caller;
    },
    async verdict(token = KNOWN_TOKEN, use = JWT_USE, from = '192.0.2.1') {
      try {
        return (await callerOf(token, use, from)).session.identity.subject;
      } catch (error) {
        if (error instanceof GatewayError) return error.reason;
        throw error;
      }
    },
    configure(seconds, groupsClaim) {
      const { settings, identityProviders } = configured(seconds, groupsClaim ?? 'groups');
      // As in a gateway, the providers are the same object until one of them changes.
      const changed =
        groupsClaim === undefined ? configuration.identityProviders : identityProviders;
      configuration = { settings, identityProviders: changed };
    },
  };
}
