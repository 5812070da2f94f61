import type {
  BearerTokenFormat,
  CompiledIdentityProvider,
} from '../../shared/snapshot/snapshot.ts';
import type { ProviderDiscovery } from '../identity-provider/provider-discovery.ts';
import { ProviderKeys } from './provider-keys.ts';
import { TokenRefusedError } from './token-refused-error.ts';
import type { VerificationContext, VerifiedToken } from './verified-token.ts';
import { verifyAccessToken } from './verify-access-token.ts';
import { verifyIdentityToken } from './verify-identity-token.ts';
import { verifyTrustedJwt } from './verify-trusted-jwt.ts';

/** A format in which the gateway reads tokens that identity providers issued. */
export type InterpretingFormat = Exclude<BearerTokenFormat, 'default'>;

/** What a token of an identity provider must be. */
export interface TokenExpectation {
  readonly format: InterpretingFormat;
  /** Name of the provider, for the formats `idp_*`; absent: the one with `signIn`. */
  readonly provider?: string;
  /** For `idp_access_token`. If absent, the token must be of the gateway's own client at the provider. */
  readonly allowedAudiences?: readonly string[];
}

/** The identity providers of a configuration. */
export interface TrustedProviders {
  /** Returns the provider with a name; without a name, the one with `signIn`. */
  find(name: string | undefined): CompiledIdentityProvider | undefined;
  all(): readonly CompiledIdentityProvider[];
}

/** Options of a `TokenVerifier`. */
export interface TokenVerifierOptions {
  readonly discovery: Pick<ProviderDiscovery, 'clientOf' | 'calls'>;
  /** Accepts keys by http on loopback. */
  readonly devAllowLoopback: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Finds out whom the tokens of identity providers are about. Remembers keys, and no tokens. */
export class TokenVerifier {
  readonly #context: VerificationContext;

  constructor({ discovery, devAllowLoopback, now }: TokenVerifierOptions) {
    const keys = new ProviderKeys({ discovery, devAllowLoopback, now });
    this.#context = { discovery, keys, now };
  }

  /**
   * Verifies a token. Rejects with a `TokenRefusedError` if it is not valid for this use, and with an
   * `UnavailableError` if its provider cannot be asked.
   */
  async verify(
    token: string,
    { format, provider: name, allowedAudiences }: TokenExpectation,
    providers: TrustedProviders,
  ): Promise<VerifiedToken> {
    if (format === 'jwt') return verifyTrustedJwt(token, providers.all(), this.#context);
    const provider = providers.find(name);
    if (provider === undefined) throw new TokenRefusedError('unknown-issuer');
    if (format === 'idp_identity_token') return verifyIdentityToken(token, provider, this.#context);
    return verifyAccessToken(token, { provider, allowedAudiences }, this.#context);
  }
}
