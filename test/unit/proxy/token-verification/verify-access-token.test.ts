import { describe, expect, test } from '@jest/globals';

import { UnavailableError } from '../../../../proxy/errors/unavailable-error.ts';
import { ProviderDiscovery } from '../../../../proxy/identity-provider/provider-discovery.ts';
import { TokenRefusedError } from '../../../../proxy/token-verification/token-refused-error.ts';
import {
  TokenVerifier,
  type TokenExpectation,
} from '../../../../proxy/token-verification/token-verifier.ts';
import type { VerifiedToken } from '../../../../proxy/token-verification/verified-token.ts';
import type { CompiledIdentityProvider } from '../../../../shared/snapshot/snapshot.ts';
import { eventually } from '../../../support/eventually.ts';
import { OTHER_CLIENT_ID } from '../../../support/identity-provider-configuration.ts';
import {
  startIdentityProvider,
  type IdentityProviderOptions,
} from '../../../support/identity-provider.ts';
import { signToken } from '../../../support/token-issuer.ts';
import { obtainTokens } from '../../../support/provider-tokens.ts';

const API = 'https://api.example';
const JWT_API = 'https://jwt.api.example';

/** Makes other settings from the usual ones. */
type Change = (compiled: CompiledIdentityProvider) => CompiledIdentityProvider;

/** A real provider, and a verifier of its tokens. */
async function setUp(
  options: IdentityProviderOptions = {},
  change: Change = (compiled) => compiled,
) {
  const provider = await startIdentityProvider(options);
  let offset = 0;
  const now = (): number => Date.now() + offset;
  const discovery = new ProviderDiscovery({ devAllowLoopback: true, now });
  const verifier = new TokenVerifier({ discovery, devAllowLoopback: true, now });
  const compiled = change(provider.compiled());
  const providers = { find: () => compiled, all: () => [compiled] };
  const verify = (token: string, allowedAudiences?: readonly string[]): Promise<VerifiedToken> => {
    const list = allowedAudiences === undefined ? {} : { allowedAudiences };
    const expected: TokenExpectation = { format: 'idp_access_token', ...list };
    return verifier.verify(token, expected, providers);
  };
  /** The reason for which a token is refused, or the subject of its user. */
  const verdict = async (token: string, allowedAudiences?: readonly string[]): Promise<string> => {
    try {
      return (await verify(token, allowedAudiences)).identity.subject;
    } catch (error) {
      if (error instanceof TokenRefusedError || error instanceof UnavailableError) {
        return error.reason;
      }
      throw error;
    }
  };
  return {
    provider,
    verify,
    verdict,
    advance: (ms: number) => void (offset += ms),
    [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose](),
  };
}

const UNAVAILABLE = 'identity-provider-unavailable';

describe('an opaque access token at a provider with introspection', () => {
  const WITH_INTROSPECTION = { introspection: true } as const;

  test('identifies the user with the claims of userinfo', async () => {
    await using world = await setUp(WITH_INTROSPECTION);
    const { accessToken } = await obtainTokens(world.provider);

    const { identity, expiresAt, isOpaque } = await world.verify(accessToken);
    expect(identity).toMatchObject({
      ...{ provider: 'test', issuer: world.provider.issuer, subject: 'alice' },
      ...{ email: 'alice@example.com', name: 'Alice Adler', groups: ['engineering'] },
    });
    expect(isOpaque).toBe(true);
    expect(expiresAt).toBeGreaterThan(Date.now() + 3_500_000);
    expect(expiresAt).toBeLessThan(Date.now() + 3_700_000);
  });

  test('is refused if it was issued to another application', async () => {
    await using world = await setUp(WITH_INTROSPECTION);
    const { accessToken } = await obtainTokens(world.provider, { client: OTHER_CLIENT_ID });

    expect(await world.verdict(accessToken)).toBe('other-client');
  });

  test('must be for an allowed audience if there is a list', async () => {
    await using world = await setUp(WITH_INTROSPECTION);
    const client = OTHER_CLIENT_ID;
    const forApi = await obtainTokens(world.provider, {
      client,
      resource: API,
      scope: 'openid read',
    });
    const forNobody = await obtainTokens(world.provider);

    expect(await world.verdict(forApi.accessToken, ['other', API])).toBe('alice');
    expect(await world.verdict(forApi.accessToken, ['other'])).toBe('wrong-audience');
    expect(await world.verdict(forNobody.accessToken, [API])).toBe('no-audience');
  });

  test('is refused if the provider does not know it', async () => {
    await using world = await setUp(WITH_INTROSPECTION);

    expect(await world.verdict('unknown')).toBe('inactive-token');
  });

  test('is refused if it is a refresh token', async () => {
    await using world = await setUp({ ...WITH_INTROSPECTION, refreshTokens: 'kept' });
    const { refreshToken = '' } = await obtainTokens(world.provider);

    expect(refreshToken).not.toBe('');
    expect(await world.verdict(refreshToken)).toBe('wrong-token-type');
  });

  test('cannot be verified while the provider is down', async () => {
    await using world = await setUp(WITH_INTROSPECTION);
    const { accessToken } = await obtainTokens(world.provider);

    world.provider.fail('introspection');
    expect(await world.verdict(accessToken)).toBe(UNAVAILABLE);
    world.provider.answers.clear();
    world.provider.fail('userinfo');
    expect(await world.verdict(accessToken)).toBe(UNAVAILABLE);
    world.provider.answers.clear();
    expect(await world.verdict(accessToken)).toBe('alice');
    await world.provider.stop();
    expect(await world.verdict(accessToken)).toBe(UNAVAILABLE);
    await world.provider.start();
  });

  const ACTIVE = { active: true, sub: 'alice', client_id: 'gatehouse', token_type: 'Bearer' };

  test.each<readonly [string, object, string]>([
    ['that it is active', {}, 'alice'],
    ['that it is not active', { active: false }, 'inactive-token'],
    ['something else than that it is active', { active: 'true' }, UNAVAILABLE],
    ['no type', { token_type: undefined }, 'wrong-token-type'],
    ['another type', { token_type: 'DPoP' }, 'wrong-token-type'],
    ['no subject', { sub: undefined }, 'incomplete-claims'],
    ['another issuer', { iss: 'https://other.example' }, 'unknown-issuer'],
    ['that it has expired', { exp: 1 }, 'token-expired'],
    ['that it begins later', { nbf: 9_999_999_999 }, 'token-not-yet-valid'],
    ['that it needs a proof', { cnf: { jkt: 'thumbprint' } }, 'sender-constrained'],
    ['no client', { client_id: undefined }, 'unbound-token'],
    ['another client', { client_id: 'other' }, 'other-client'],
    ['that its user has groups elsewhere', { hasgroups: true }, 'groups-left-out'],
  ])('is judged by what introspection says: %s', async (_name, answer, expected) => {
    await using world = await setUp(WITH_INTROSPECTION);
    world.provider.answers.set('introspection', { status: 200, body: { ...ACTIVE, ...answer } });

    expect(await world.verdict('opaque')).toBe(expected);
  });

  test('is refused if userinfo is about another user', async () => {
    await using world = await setUp(WITH_INTROSPECTION);
    const { accessToken } = await obtainTokens(world.provider);
    world.provider.answers.set('userinfo', { status: 200, body: { sub: 'bob' } });

    expect(await world.verdict(accessToken)).toBe('other-subject');
  });

  test.each([401, 403])('is refused if userinfo refuses it with %i', async (status) => {
    await using world = await setUp(WITH_INTROSPECTION);
    const { accessToken } = await obtainTokens(world.provider);
    world.provider.answers.set('userinfo', { status, body: { error: 'invalid_token' } });

    expect(await world.verdict(accessToken)).toBe('inactive-token');
  });
});

describe('an opaque access token at a provider without introspection', () => {
  test('is refused if userinfo does not say for whom it is', async () => {
    await using world = await setUp();
    const { accessToken } = await obtainTokens(world.provider);

    expect(await world.verdict(accessToken)).toBe('unbound-token');
    expect(await world.verdict('unknown')).toBe('inactive-token');
  });

  test('identifies the user if userinfo is signed, and for the own client', async () => {
    await using world = await setUp({ signedUserInfo: true });
    const own = await obtainTokens(world.provider);
    const other = await obtainTokens(world.provider, { client: OTHER_CLIENT_ID });

    expect((await world.verify(own.accessToken)).identity).toMatchObject({
      ...{ subject: 'alice', email: 'alice@example.com', groups: ['engineering'] },
    });
    expect(await world.verdict(other.accessToken)).toBe('other-client');
    expect(await world.verdict(own.accessToken, [API])).toBe('wrong-audience');
  });

  test('cannot be verified while the provider is down', async () => {
    await using world = await setUp({ signedUserInfo: true });
    const { accessToken } = await obtainTokens(world.provider);

    world.provider.fail('userinfo');
    expect(await world.verdict(accessToken)).toBe(UNAVAILABLE);
  });

  test('is not sent to introspection if the gateway has no secret', async () => {
    const withoutSecret: Change = ({ kind, name, issuer, signIn, authorizationParams }) => ({
      ...{ kind, name, issuer, signIn, authorizationParams, clientId: 'gatehouse' },
    });
    await using world = await setUp({ introspection: true }, withoutSecret);

    expect(await world.verdict('opaque')).toBe('inactive-token');
    expect(world.provider.hits.get('/token/introspection')).toBeUndefined();
  });
});

describe('a JWT access token', () => {
  test('is verified with the keys of the provider, and without asking it', async () => {
    await using world = await setUp({ introspection: true });
    const wanted = { client: OTHER_CLIENT_ID, resource: JWT_API, scope: 'read' } as const;
    const { accessToken } = await obtainTokens(world.provider, wanted);

    const { identity, isOpaque, countsUntil } = await world.verify(accessToken, [JWT_API]);
    expect(identity).toMatchObject({ provider: 'test', subject: 'alice', groups: [] });
    expect(isOpaque).toBe(false);
    expect(countsUntil).toBeLessThanOrEqual(Date.now() + 600_000);
    expect(await world.verdict(accessToken)).toBe('other-client');
    expect(world.provider.hits.get('/token/introspection')).toBeUndefined();
    expect(world.provider.hits.get('/jwks')).toBe(1);
  });

  test('is not verified with keys that are given for the format jwt', async () => {
    const jwksUrl = 'http://127.0.0.1:1/keys';
    await using world = await setUp({}, (compiled) => ({ ...compiled, jwksUrl }));
    const wanted = { resource: JWT_API, scope: 'read' } as const;
    const { accessToken } = await obtainTokens(world.provider, wanted);

    expect(await world.verdict(accessToken, [JWT_API])).toBe('alice');
  });

  test('counts as long as the keys that verified it, although there are newer ones', async () => {
    await using world = await setUp();
    const { issuer, keys, answers } = world.provider;
    const iat = Math.floor(Date.now() / 1000);
    const times = { iat, exp: iat + 3600 };
    const claims = { iss: issuer, aud: JWT_API, scope: 'openid', ...times };
    const accessToken = await signToken(keys[1], claims, { typ: 'at+jwt' });
    answers.set('userinfo', { status: 200, body: { sub: 'alice' } });
    const release = world.provider.hold('userinfo');
    const until = Date.now() + 600_000;
    const slow = world.verify(accessToken, [JWT_API]);
    await eventually('userinfo is asked', () => world.provider.hits.get('/me') === 1);
    world.advance(700_000);
    const later = world.verify(accessToken, [JWT_API]);
    await eventually('userinfo is asked', () => world.provider.hits.get('/me') === 2);
    release();

    expect((await slow).countsUntil).toBeLessThan(until + 60_000);
    expect((await later).countsUntil).toBeGreaterThan(until + 600_000);
  });

  test('is no identity token of the same user', async () => {
    await using world = await setUp({ introspection: true }, (compiled) => ({
      ...compiled,
      accessTokenType: 'jwt',
    }));
    const { identityToken } = await obtainTokens(world.provider);

    expect(await world.verdict(identityToken)).toBe('wrong-token-type');
    expect(await world.verdict(identityToken, ['gatehouse'])).toBe('wrong-token-type');
  });

  test.each([
    ['padding', (token: string) => `${token}=`],
    ['a further part', (token: string) => `${token}.x`],
    ['characters of another alphabet', (token: string) => `${token}+/`],
  ])('is no identity token with %s, whatever introspection says', async (_name, respell) => {
    await using world = await setUp({ introspection: true });
    const { identityToken } = await obtainTokens(world.provider);
    const body = { active: true, sub: 'alice', client_id: 'gatehouse', token_type: 'Bearer' };
    world.provider.answers.set('introspection', { status: 200, body });

    expect(await world.verdict(respell(identityToken))).toBe('malformed-token');
    expect(world.provider.hits.get('/token/introspection')).toBeUndefined();
  });

  test('is opaque if it is encrypted, and refused if introspection takes it for an error', async () => {
    await using world = await setUp({ introspection: true });
    const header = Buffer.from('{"alg":"dir","enc":"A256GCM"}').toString('base64url');

    expect(await world.verdict(`${header}..iv.text.tag`)).toBe('inactive-token');
  });

  test('cannot be verified while the keys of the provider cannot be had', async () => {
    await using world = await setUp();
    const wanted = { resource: JWT_API, scope: 'read' } as const;
    const { accessToken } = await obtainTokens(world.provider, wanted);
    world.provider.fail('keys');

    expect(await world.verdict(accessToken, [JWT_API])).toBe(UNAVAILABLE);
  });
});
