import { ProviderCalls } from '../../proxy/identity-provider/provider-calls.ts';
import { TokenRefusedError } from '../../proxy/token-verification/token-refused-error.ts';
import {
  TokenVerifier,
  type TokenExpectation,
} from '../../proxy/token-verification/token-verifier.ts';
import type { CompiledIdentityProvider } from '../../shared/snapshot/snapshot.ts';
import { TOKEN_TIME } from './token-issuer.ts';

/** The verdict on a token of `token-issuer` that is accepted. */
export const ALICE = 'test: alice';

/** Returns what a verifier makes of a token: the subject, or the reason for which it is refused. */
export async function verdictOn(
  token: string,
  expected: TokenExpectation,
  ...providers: readonly CompiledIdentityProvider[]
): Promise<string> {
  const now = (): number => TOKEN_TIME;
  const discovery = {
    calls: new ProviderCalls(),
    clientOf: () => Promise.reject(new Error('nobody is asked')),
  };
  const verifier = new TokenVerifier({ discovery, devAllowLoopback: false, now });
  const find = (name = 'test') => providers.find((each) => each.name === name);
  try {
    const { identity } = await verifier.verify(token, expected, { find, all: () => providers });
    return `${identity.provider}: ${identity.subject}`;
  } catch (error) {
    if (error instanceof TokenRefusedError) return error.reason;
    throw error;
  }
}
