import { startGatewayWithUsers, type GatewayWithUsers } from '../gateway-with-users.ts';
import { send, type RequestOptions } from '../http-client.ts';
import { startIdentityProvider, type TestIdentityProvider } from '../identity-provider.ts';
import { startUpstream } from '../upstream.ts';

type Headers = NonNullable<RequestOptions['headers']>;

/** The audience of the routes at the identity provider; access tokens for it are JWTs. */
export const AUDIENCE = 'https://jwt.gateway.example';

/** Another allowed audience, whose access tokens are opaque. */
export const OPAQUE_AUDIENCE = 'https://gateway.example';

/** The audience of tokens of the second provider, for the format `jwt`. */
export const PARTNER_AUDIENCE = 'https://jwt.partner.example';

const FORMATS = ['default', 'idp_access_token', 'idp_identity_token', 'jwt'] as const;

/** A bearer token format. */
export type MatrixFormat = (typeof FORMATS)[number];

/** A kind of route. */
export type MatrixRoute = 'web' | 'mcp';

/** A web route and an MCP route of each format, and two identity providers. */
export interface MatrixWorld extends AsyncDisposable {
  /** Where the users of the routes are. */
  readonly provider: TestIdentityProvider;
  /** A second provider, which the format `jwt` accepts too. */
  readonly partner: TestIdentityProvider;
  /** A session cookie, by its name. */
  readonly cookie: string;
  /** Returns the time of the gateway in seconds since the epoch. */
  nowSeconds(): number;
  /** Moves the clock of the gateway. */
  advance(seconds: number): void;
  /** Sends a request, and returns status, challenge, log reason and user; what is absent is left out. */
  ask(format: MatrixFormat, route: MatrixRoute, headers: Headers): Promise<string>;
}

/** Starts everything. */
export async function startMatrixWorld(): Promise<MatrixWorld> {
  await using opening = new AsyncDisposableStack();
  let offset = 0;
  const now = (): number => Date.now() + offset;
  const features = { introspection: true };
  const users = opening.use(await startGatewayWithUsers({ now }, features));
  const partner = opening.use(await startIdentityProvider(features));
  const upstream = opening.use(
    await startUpstream((_message, response) => {
      response
        .setHeader('content-type', 'application/json')
        .end('{"jsonrpc":"2.0","id":1,"result":{}}');
    }),
  );
  await configure(users, partner, upstream.origin);
  const opened = opening.move();
  const port = new URL(users.originOf('any')).port;
  return {
    provider: users.identityProvider,
    partner,
    cookie: `gatehouse-${port}=${'A'.repeat(43)}`,
    nowSeconds: () => Math.floor(now() / 1000),
    advance: (seconds) => void (offset += seconds * 1000),
    async ask(format, route, headers) {
      const { gateway } = users;
      const [refusals, decisions] = [gateway.logs().length, gateway.decisions().length];
      const { status, headers: answered } = await request(users, hostOf(format, route), headers);
      const [refusal] = gateway.logs().slice(refusals);
      const [decision] = gateway.decisions().slice(decisions);
      const challenge = challengeOf(answered['www-authenticate'], route);
      const words = [String(status), challenge, refusal?.['reason'], decision?.['user']];
      return words.filter((word) => typeof word === 'string').join(' ');
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function configure(
  users: GatewayWithUsers,
  partner: TestIdentityProvider,
  to: string,
): Promise<void> {
  const { issuer, clientId } = users.identityProvider;
  const routes = FORMATS.flatMap((format) => {
    const shared = {
      ...{ to, allowAnyAuthenticatedUser: true },
      ...(format !== 'default' && { bearerTokenFormat: format }),
      ...(format === 'idp_access_token' && {
        idpAccessTokenAllowedAudiences: [AUDIENCE, OPAQUE_AUDIENCE],
      }),
    };
    const [web, mcp] = [hostOf(format, 'web'), hostOf(format, 'mcp')];
    return [
      [web, { ...shared, from: users.originOf(web) }],
      [mcp, { ...shared, from: users.originOf(mcp), mcp: { server: {} } }],
    ] as const;
  });
  await users.configure(Object.fromEntries(routes), {
    identityProviders: [
      {
        ...{ name: 'test', issuerUrl: issuer, clientId, signIn: true, audiences: [AUDIENCE] },
        clientSecretRef: { name: 'identity-provider', key: 'client-secret' },
        scopes: ['openid', 'email', 'profile', 'groups'],
      },
      { name: 'partner', issuerUrl: partner.issuer, audiences: [PARTNER_AUDIENCE] },
    ],
  });
}

function hostOf(format: MatrixFormat, route: MatrixRoute): string {
  return `${format.replaceAll('_', '-')}-${route}`;
}

function request(users: GatewayWithUsers, host: string, headers: Headers) {
  const origin = users.originOf(host);
  if (!host.endsWith('mcp')) return send(`${origin}/x`, { headers });
  return send(origin, {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      ...headers,
    },
    body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  });
}

/** RFC 6750, section 3; MCP: protected resource metadata discovery. */
function challengeOf(challenge: string | undefined, route: MatrixRoute): string | undefined {
  if (challenge === undefined) return undefined;
  if (challenge.includes('resource_metadata=') !== (route === 'mcp')) return challenge;
  return challenge.includes('error="invalid_token"') ? 'invalid_token' : 'challenge';
}
