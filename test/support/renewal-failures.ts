import { expect } from '@jest/globals';

import type { IdentityProviderOptions } from './identity-provider.ts';
import { errorIn, startSessionWorld, type refresh, type SessionWorld } from './session-world.ts';
import { signInClient, type SignedInClient } from './signed-in-client.ts';

/** Makes a world fail in one way. */
export type Fault = (world: SessionWorld) => unknown;
/** Response of the token endpoint. */
export type Answer = Awaited<ReturnType<typeof refresh>>;

/** A world in which a client's session has expired. */
export interface ExpiredWorld extends SessionWorld {
  readonly client: SignedInClient;
  /** Every token that the provider issued. */
  readonly secrets: readonly string[];
}

/** Starts a world in which a client has signed in, and its session has expired since. */
export async function startExpired(options?: IdentityProviderOptions): Promise<ExpiredWorld> {
  const world = await startSessionWorld(options);
  const secrets: string[] = [];
  world.identityProvider.changeTokens = (response) => {
    secrets.push(String(response['refresh_token']), String(response['access_token']));
    return response;
  };
  const client = await signInClient(world.url);
  world.expireSessions();
  return { ...world, client, secrets };
}

/** Expects a 503 with `Retry-After`. */
export function expectUnavailable(answer: Answer): void {
  expect(errorIn(answer)).toEqual({ status: 503, error: 'temporarily_unavailable' });
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  expect(answer.headers['cache-control']).toBe('no-store');
}

/** Makes an endpoint fail. */
export function failing(endpoint: 'token' | 'userinfo' | 'keys'): Fault {
  return ({ identityProvider }) => {
    identityProvider.fail(endpoint);
  };
}
